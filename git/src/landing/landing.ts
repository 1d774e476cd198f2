/**
 * Lands a commit on a branch as a compare-and-set of one ref. Git is the source of truth for what has landed.
 *
 * Promises:
 *   git/G3 Because a landing may be retried after any crash, a ref moves from `old` to a commit that builds on `old` or
 *     stays, a repeated landing answers `already` even if others have built on it, and a positive answer survives a
 *     power cut.
 */
import { AntiphonError, isRefName } from "@antiphon/contracts";
import { DURABLE, flushRef } from "../disk/durable.ts";
import { zeroId } from "../objects/git-object.ts";
import { firstLine, runGit } from "../process/git-process.ts";
import { openRepo, tipOf, type Repo, type RepoLike } from "../repository/repo.ts";
import { requireId } from "../repository/scratch.ts";
import { removeStaleLock } from "./stale-lock.ts";

export type LandingOutcome =
  | { kind: "landed"; actual: string }
  /** `actual` is the head it is reachable from. */
  | { kind: "already"; actual: string }
  /** The ref points elsewhere; null if it does not exist. */
  | { kind: "moved"; actual: string | null };

/**
 * Moves `ref` from `old` (null: it must not exist) to `next`. Two processes when it lands, at most four.
 * @throws AntiphonError ANT_LANDING_REWIND when `next` does not build on `old`; ANT_LANDING_COMMIT_GONE,
 *   ANT_LANDING_REF_LOCKED
 */
export async function landRef(
  repo: RepoLike,
  ref: string,
  next: string,
  old: string | null,
): Promise<LandingOutcome> {
  const opened = await openRepo(repo);
  const outcome = await moveRef(opened, ref, next, old);
  // git/G3. Also for `already`: the process that moved the ref may have died before the flush.
  if (outcome.kind !== "moved") await flushRef(opened, ref);
  return outcome;
}

async function moveRef(opened: Repo, ref: string, next: string, old: string | null): Promise<LandingOutcome> {
  requireId(next);
  if (!ref.startsWith("refs/heads/") || !isRefName(ref)) {
    throw new AntiphonError("ANT_REPO_REF_INVALID", `${JSON.stringify(ref.slice(0, 100))} is not a branch`);
  }
  // git/G3: a compare-and-set alone would let a stale commit replace a newer head that the caller just read.
  if (old !== null && requireId(old) !== next && !(await isAncestor(opened, old, next))) {
    if (await isAncestor(opened, next, old)) return settled(opened, ref, next, old, "");
    await requireThere(opened, next);
    throw new AntiphonError("ANT_LANDING_REWIND", `${next} does not build on ${old}`);
  }
  const update = {
    gitDir: opened.commonDir,
    args: ["update-ref", "-m", "antiphon: land", ref, next, old ?? zeroId(opened.format)],
    settings: DURABLE,
  };
  let result = await runGit(update);
  if (result.exitCode !== 0 && (await removeStaleLock(opened, ref))) result = await runGit(update);
  if (result.exitCode === 0 && old !== next) return { kind: "landed", actual: next };
  return settled(opened, ref, next, old, result.stderr);
}

/** The compare-and-set failed, so the current ref decides the answer. */
async function settled(
  repo: Repo,
  ref: string,
  next: string,
  old: string | null,
  stderr: string,
): Promise<LandingOutcome> {
  const actual = await tipOf(repo, ref);
  if (actual === next) return { kind: "already", actual };
  if (actual !== null && (await isAncestor(repo, next, actual))) return { kind: "already", actual };
  if (actual !== old) return { kind: "moved", actual };
  const isBlocked =
    stderr.includes("' exists; cannot create") ||
    (stderr.includes("cannot lock ref ") && stderr.includes(" there is a non-empty directory"));
  if (isBlocked) throw new AntiphonError("ANT_REPO_REF_BLOCKED", firstLine(stderr));
  await requireThere(repo, next);
  throw new AntiphonError("ANT_LANDING_REF_LOCKED", firstLine(stderr), { data: { ref, stderr } });
}

/**
 * No ref refers to a commit before it lands, so `git gc --prune=now` removes it, and waiting does not bring it back. If
 * the object exists but cannot be read, git exits with another code.
 */
async function requireThere(repo: Repo, commit: string): Promise<void> {
  const result = await runGit({ gitDir: repo.commonDir, args: ["cat-file", "-e", requireId(commit)] });
  if (result.exitCode !== 1 || result.stderr !== "") return;
  throw new AntiphonError("ANT_LANDING_COMMIT_GONE", `${commit} is not in the repository any more`);
}

/** True when `older` is `newer` or one of its ancestors. One process. */
export async function isAncestor(repo: RepoLike, older: string, newer: string): Promise<boolean> {
  if (older === newer) return true;
  const { commonDir } = await openRepo(repo);
  const call = {
    gitDir: commonDir,
    args: ["merge-base", "--is-ancestor", requireId(older), requireId(newer)],
  };
  const result = await runGit(call);
  // 1: not an ancestor. 128: a commit is missing, so it is not reachable either.
  return result.exitCode === 0;
}
