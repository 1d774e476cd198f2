// Runs a command by the Node that a checkout brings (`node-linux-*` in its package.json) where the one that started it is
// too old. `npx` and npm's scripts find that Node by themselves; a command that is called by its path does not.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";

const OLDEST = 24;

export function isTooOld() {
  return Number(process.versions.node.split(".")[0]) < OLDEST;
}

/** Resolves with false if there is no newer one; otherwise the process ends as that command does. */
export async function runByNewerNode(root) {
  const node = join(root, "node_modules/.bin/node");
  if (!existsSync(node)) return false;
  const child = spawn(node, process.argv.slice(1), { stdio: "inherit" });
  // A terminal sends Ctrl-C to both; whoever ends this process by its pid means the command.
  process.on("SIGINT", () => undefined);
  for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  const [code, signal] = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (...end) => resolve(end));
  });
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
}
