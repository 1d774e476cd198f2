/**
 * Removes a stale lock of a run branch. The lock file of a ref outlives a killed git process or a power cut, and then the
 * ref cannot be moved. Only Antiphon writes a run's own branch, so its lock is removed once it is older than any
 * `update-ref` takes. Locks of other branches are left to the owner of the repository.
 */
import { randomUUID } from "node:crypto";
import { link, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { limits } from "@antiphon/contracts";
import type { Repo } from "../repository/repo.ts";

const OURS = "refs/heads/antiphon/";

/** True if there was a stale lock and it was removed. */
export async function removeStaleLock(repo: Repo, ref: string): Promise<boolean> {
  if (!ref.startsWith(OURS)) return false;
  const lock = join(repo.commonDir, `${ref}.lock`);
  const found = await stat(lock).catch(() => null);
  if (found === null || Date.now() - found.mtimeMs < limits.refLockMs) return false;
  // Rename it first and check its age again: another Director may have removed the old lock and locked the ref anew.
  const aside = join(repo.commonDir, `antiphon-lock-${randomUUID()}`);
  try {
    await rename(lock, aside);
    if ((await stat(aside)).ino === found.ino) return true;
    await link(aside, lock);
    return false;
  } catch {
    return false; // Another process was faster; the next try finds out.
  } finally {
    await rm(aside, { force: true });
  }
}
