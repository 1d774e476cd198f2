import { spawn } from "node:child_process";

/** Output kept of a command, in bytes: enough for its last error, never a whole build log. */
const KEPT_BYTES = 256 * 1024;

/**
 * Runs one program by argument array and returns how it ended. It never throws for a failing
 * program: a missing binary is `code: 127`, a timeout is `timedOut`.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number, signal?: AbortSignal}} [options]
 * @returns {Promise<{code: number, stdout: string, stderr: string, timedOut: boolean}>}
 */
export function run(program, args, options = {}) {
  const { cwd, env, timeoutMs = 60_000 } = options;
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const out = tail();
    const err = tail();
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill("SIGKILL");
    }, timeoutMs);
    child.stdout.on("data", out.push);
    child.stderr.on("data", err.push);
    child.on("error", (error) => {
      clearTimeout(timer);
      resolve({ code: 127, stdout: "", stderr: error.message, timedOut });
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code: code ?? 1, stdout: out.text(), stderr: err.text(), timedOut });
    });
  });
}

/**
 * The last lines of a command that say why it failed, as one line.
 *
 * @param {{stdout: string, stderr: string, timedOut: boolean}} result
 */
export function reasonOf(result) {
  if (result.timedOut) return "timed out";
  const lines = `${result.stdout}\n${result.stderr}`
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const errors = lines.filter((line) => /^(E:|error|fatal|npm error)/i.test(line));
  return (errors.length > 0 ? errors.slice(0, 2) : lines.slice(-1)).join(" | ") || "no output";
}

function tail() {
  /** @type {Buffer[]} */
  let chunks = [];
  let bytes = 0;
  return {
    /** @param {Buffer} chunk */
    push(chunk) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > 2 * KEPT_BYTES) {
        const kept = Buffer.concat(chunks).subarray(-KEPT_BYTES);
        chunks = [kept];
        bytes = kept.length;
      }
    },
    text: () => Buffer.concat(chunks).toString("utf8"),
  };
}
