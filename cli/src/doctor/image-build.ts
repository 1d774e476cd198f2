// Builds the standard sandbox image by running that step of `npm run setup` in a child process.
//
// This part of `antiphon images` does not go through the gateway: a sandbox-runner needs the image before it can serve,
// so no service could build it.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../failure.ts";

/** Returns the exit code. The output goes to this process's own output. */
export function buildImage(root: string, json: boolean): Promise<number> {
  const program = join(root, "setup/main.mjs");
  if (!existsSync(program)) {
    const remedy = "build the image in a checkout, or load one and name it in ANTIPHON_SANDBOX_IMAGE";
    throw new Failure("ANT_SETUP_MISSING", "this installation does not include the setup program", {
      remedy,
    });
  }
  const args = [program, "--only-image", ...(json ? ["--json"] : [])];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}
