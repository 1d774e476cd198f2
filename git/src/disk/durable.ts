/**
 * What a landing promises outlives a power cut. Git flushes the bytes of objects and refs when it is told to, but never
 * the directories they are named in: a ref that was renamed into place a moment ago is not there after a cut, and its
 * lock file is. So we flush those ourselves before anything is answered.
 */
import { dirname, join } from "node:path";
import { flushExisting } from "./flush.ts";
import type { GitSettings } from "../process/git-environment.ts";
import type { Repo } from "../repository/repo.ts";

/** Git flushes what it writes into these before it gives it its name. */
export const DURABLE: GitSettings = [
  ["core.fsync", "loose-object,pack,pack-metadata,reference"],
  ["core.fsyncMethod", "fsync"],
];

/** Loose ones lie in a directory by the first byte of their id; many at once in a pack. */
export async function flushObjects(repo: Repo, ids: readonly string[]): Promise<void> {
  const { objectsDir } = repo;
  const fanOut = ids.map((id) => join(objectsDir, id.slice(0, 2)));
  await flushExisting([...fanOut, join(objectsDir, "pack"), objectsDir]);
}

/** The ref's file and the directories above it, which `update-ref` may have made; or the table that holds all refs. */
export async function flushRef(repo: Repo, ref: string): Promise<void> {
  const { commonDir } = repo;
  const paths = [join(commonDir, "reftable"), join(commonDir, ref)];
  for (let at = dirname(ref); at !== "."; at = dirname(at)) paths.push(join(commonDir, at));
  await flushExisting([...paths, commonDir]);
}
