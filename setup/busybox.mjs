/**
 * Provides BusyBox for tests of images that hold nothing else. It takes the program of the package busybox-static, which
 * needs no library, from the archive of this machine's release, without installing it.
 */
import { copyFile, mkdir, rename, rm } from "node:fs/promises";
import path from "node:path";

import { TOOLS_DIR, workDirectory } from "./checkout.mjs";
import { run } from "./command.mjs";
import { hostDistribution, openArchive, unpackInto } from "./debian-archive.mjs";
import { StepFailure } from "./step-failure.mjs";

const PACKAGE = "busybox-static";
const PROGRAM = path.join(TOOLS_DIR, "busybox");
/** Its path in different releases. */
const PLACES = ["bin/busybox", "usr/bin/busybox"];

/**
 * @param {{note: (text: string) => void}} input
 * @returns {Promise<{outcome: "present" | "made", detail: string, program: string}>}
 */
export async function ensureBusybox({ note }) {
  const present = await versionOf(PROGRAM);
  if (present !== null) return { outcome: "present", detail: present, program: PROGRAM };
  const host = await hostDistribution();
  if (host === null)
    throw new StepFailure(
      `the package ${PACKAGE} is available on Debian and Ubuntu only`,
      `put a static busybox at ${PROGRAM}`,
    );
  const directory = await workDirectory("busybox");
  try {
    const archive = await openArchive({ ...host, directory, note });
    const tree = path.join(directory, "tree");
    await unpackInto([await archive.package(PACKAGE)], tree);
    await mkdir(TOOLS_DIR, { recursive: true });
    const draft = `${PROGRAM}.${process.pid}`;
    for (const place of PLACES)
      if ((await versionOf(path.join(tree, place))) !== null) {
        await copyFile(path.join(tree, place), draft);
        await rename(draft, PROGRAM);
      }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  const made = await versionOf(PROGRAM);
  if (made === null)
    throw new StepFailure(`busybox of ${PACKAGE} does not run here`, `put a static busybox at ${PROGRAM}`);
  return { outcome: "made", detail: made, program: PROGRAM };
}

/** Its first line of output, or null if it does not run. @param {string} program */
async function versionOf(program) {
  const { code, stdout } = await run(program, ["busybox"], { timeoutMs: 5_000 });
  return code === 0 ? (/^BusyBox v\S+/.exec(stdout)?.[0] ?? null) : null;
}
