/**
 * Keeps landings safe from a power cut. Git flushes the bytes of objects and refs if configured to, but never the
 * directories that name them: after a power cut a ref that was just renamed into place may be missing while its lock
 * file still exists. This module flushes those directories before a landing is answered.
 */
import { dirname, join } from "node:path";
import { onDisk } from "./disk-fault.ts";
import { flushExisting } from "./flush.ts";
import type { GitSettings } from "../process/git-environment.ts";
import type { Repo } from "../repository/repo.ts";

/** Makes git flush these kinds of files before it renames them into place. */
export const DURABLE: GitSettings = [
  ["core.fsync", "loose-object,pack,pack-metadata,reference"],
  ["core.fsyncMethod", "fsync"],
];

/** Loose objects lie in a directory named by the first byte of their id; many at once form a pack. */
export async function flushObjects(repo: Repo, ids: readonly string[]): Promise<void> {
  const { objectsDir } = repo;
  const fanOut = ids.map((id) => join(objectsDir, id.slice(0, 2)));
  await onDisk(() => flushExisting([...fanOut, join(objectsDir, "pack"), objectsDir]));
}

/** Flushes the ref's file and the directories above it, which `update-ref` may have created, or the table of all refs. */
export async function flushRef(repo: Repo, ref: string): Promise<void> {
  const { commonDir } = repo;
  const paths = [join(commonDir, "reftable"), join(commonDir, ref)];
  for (let at = dirname(ref); at !== "."; at = dirname(at)) paths.push(join(commonDir, at));
  await onDisk(() => flushExisting([...paths, commonDir]));
}
