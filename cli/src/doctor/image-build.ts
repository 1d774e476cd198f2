// Builds the standard sandbox image: the step of `npm run setup` that does, in a process of its own.
//
// This is the one part of `antiphon images` that does not go through the gateway. The image is what a runner needs
// before it can serve, so nobody could be asked for it; and building is a matter of this machine, as setup is.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../failure.ts";

/** Its exit code; what it says goes to this process's own output. */
export function buildImage(root: string, json: boolean): Promise<number> {
  const program = join(root, "setup/main.mjs");
  if (!existsSync(program)) {
    const remedy = "build it in a checkout, or load an image and name it in ANTIPHON_SANDBOX_IMAGE";
    throw new Failure("ANT_SETUP_MISSING", "this installation carries no set-up", { remedy });
  }
  const args = [program, "--only-image", ...(json ? ["--json"] : [])];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}
