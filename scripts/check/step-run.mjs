import { spawn } from "node:child_process";

/** All steps are JavaScript that allocates much: a large young generation saves a tenth of the time. */
const NURSERY = "--max-semi-space-size=64";

/**
 * Runs one step to its end.
 *
 * @param {import("./step-list.mjs").Step} step
 * @param {string} cache
 * @param {readonly string[] | null} changed
 * @returns {Promise<{name: string, seconds: number, complaint: string | null, output: string} | null>} null: nothing to do
 */
export async function runStep(step, cache, changed) {
  const started = performance.now();
  const ended = (complaint, output) => ({
    name: step.name,
    seconds: (performance.now() - started) / 1000,
    complaint,
    output: output.trimEnd(),
  });
  try {
    const command = await step.command(cache, changed);
    if (command === null) return null;
    const { code, output } = await outputOf(command);
    return ended(code === 0 ? (step.accept?.(output) ?? null) : `exit code ${code}`, output);
  } catch (error) {
    return ended("could not be started", error instanceof Error ? error.message : String(error));
  }
}

function outputOf(command) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [NURSERY, ...command], { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text) => (output += text));
    }
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: code ?? signal, output }));
  });
}
