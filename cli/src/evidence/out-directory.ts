// Writes files below the directory that `--out` names, and says of a place that cannot be written what to do about it.
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Failure, usage } from "../failure.ts";

/** @throws Failure ANT_USAGE for a place that is not the caller's, or ANT_STATE_DISK_FULL */
export function writeBelow(target: string, content: string | Buffer): void {
  try {
    makeDirectory(dirname(target));
    writeFileSync(target, content);
  } catch (thrown) {
    const failure = Failure.from(thrown);
    if (failure.code === "ANT_STATE_DISK_FULL") throw failure;
    const why = (thrown as Error).message.replace(/^E[A-Z]+: /, "").replace(/, \w+( '.*')?$/, "");
    throw usage(
      `cannot write ${target}: ${why}`,
      "name a directory of your own, or one to be made: --out <dir>",
    );
  }
}

/** One at a time: `recursive` never ends where the kernel denies that a directory can be made, as in /proc. */
function makeDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const parent = dirname(directory);
  if (!existsSync(parent)) makeDirectory(parent);
  mkdirSync(directory);
}
