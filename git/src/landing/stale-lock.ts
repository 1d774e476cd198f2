/**
 * The lock file of a ref outlives a git process that was killed, and a power cut, and then nobody can move the ref any
 * more. A run's own branch is nobody else's, so we may take its lock away when it is older than any `update-ref`;
 * another branch is its owner's to look after.
 */
import { randomUUID } from "node:crypto";
import { link, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { limits } from "@antiphon/contracts";
import type { Repo } from "../repository/repo.ts";

const OURS = "refs/heads/antiphon/";

/** True: there was one, and it is gone. */
export async function removeStaleLock(repo: Repo, ref: string): Promise<boolean> {
  if (!ref.startsWith(OURS)) return false;
  const lock = join(repo.commonDir, `${ref}.lock`);
  const found = await stat(lock).catch(() => null);
  if (found === null || Date.now() - found.mtimeMs < limits.refLockMs) return false;
  // Moved away first, and looked at again: another Director may have removed the old one and locked the ref meanwhile.
  const aside = join(repo.commonDir, `antiphon-lock-${randomUUID()}`);
  try {
    await rename(lock, aside);
    if ((await stat(aside)).ino === found.ino) return true;
    await link(aside, lock);
    return false;
  } catch {
    return false; // Somebody else was faster; the next try will tell.
  } finally {
    await rm(aside, { force: true });
  }
}
