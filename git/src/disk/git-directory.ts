/**
 * Reads what git reads to recognise a repository. Git says "not a git repository" also when the disk does not answer, so
 * its word is compared with the file system's.
 */
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isDiskFault } from "./disk-fault.ts";

/**
 * `broken`: the disk does not answer. `readable`: everything is there. `absent`: something is missing, or this user may
 * not read it.
 */
export type GitDirectoryState =
  { kind: "readable" | "absent" } | { kind: "broken"; cause: NodeJS.ErrnoException };

export async function gitDirectoryState(gitDir: string): Promise<GitDirectoryState> {
  const head = async (): Promise<void> => (await open(join(gitDir, "HEAD"))).close();
  for (const read of [head, () => readdir(join(gitDir, "objects")), () => readdir(join(gitDir, "refs"))]) {
    try {
      await read();
    } catch (thrown) {
      return isDiskFault(thrown)
        ? { kind: "broken", cause: thrown as NodeJS.ErrnoException }
        : { kind: "absent" };
    }
  }
  return { kind: "readable" };
}
