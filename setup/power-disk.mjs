/**
 * Builds, from Go source, the file system in user space whose power can be cut (test/chaos/power-loss/disk), for the tests of
 * power loss. Its name holds a hash of the source, so that no test runs an old one.
 */
import { access, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";

import { ROOT, TOOLS_DIR, contentHash } from "./checkout.mjs";
import { buildGoProgram } from "./go-program.mjs";
import { StepFailure } from "./step-failure.mjs";

const SOURCE = path.join(ROOT, "test/chaos/power-loss/disk");
const DEVICE = "/dev/fuse";

/**
 * @param {{note: (text: string) => void}} input
 * @returns {Promise<{outcome: "present" | "made", detail: string, program: string}>}
 * @throws StepFailure where there is no FUSE, or no Go compiler
 */
export async function ensurePowerDisk({ note }) {
  if (!(await exists(DEVICE)))
    throw new StepFailure(`${DEVICE} does not exist`, "load the kernel module: modprobe fuse");
  const version = await contentHash({ paths: [SOURCE] });
  const name = `power-disk-${version}`;
  const program = path.join(TOOLS_DIR, name);
  if (await exists(program)) return { outcome: "present", detail: version, program };
  const draft = `${name}.${process.pid}`;
  const built = await buildGoProgram({ packagePath: ".", name: draft, version, note, module: SOURCE });
  if (!built.ok)
    throw new StepFailure(
      `power-disk could not be built: ${built.reason}`,
      "install a Go compiler (https://go.dev/dl), so that it is on PATH",
    );
  await rename(path.join(TOOLS_DIR, draft), program);
  for (const old of await readdir(TOOLS_DIR))
    if (/^power-disk-[0-9a-f]+$/.test(old) && old !== name) await rm(path.join(TOOLS_DIR, old));
  return { outcome: "made", detail: version, program };
}

/** @param {string} file */
const exists = (file) =>
  access(file).then(
    () => true,
    () => false,
  );
