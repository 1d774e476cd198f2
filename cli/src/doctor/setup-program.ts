// Runs the set-up program of this installation, or one of its steps, in a child process.
//
// Set-up does not go through the gateway: a sandbox-runner needs the image before it can serve, and NATS has to be there
// before any service, so no service could do it. The program is plain Node, because in a checkout it runs before the npm
// packages exist.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { childEnvironment } from "../config.ts";
import type { CliContext } from "../context.ts";
import { Failure } from "../failure.ts";

/** Returns the exit code. The output goes to this process's own output. */
export function runSetup({ root, config }: CliContext, options: readonly string[]): Promise<number> {
  const program = join(root, "setup/main.mjs");
  if (!existsSync(program)) {
    const remedy =
      "use a checkout or the npm package, or load an image and name it in ANTIPHON_SANDBOX_IMAGE";
    throw new Failure("ANT_SETUP_MISSING", "this installation does not include the set-up program", {
      remedy,
    });
  }
  const env = childEnvironment({ ANTIPHON_STATE_DIR: config.stateDir });
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...options], {
      env,
      stdio: ["ignore", "inherit", "inherit"],
    });
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}
