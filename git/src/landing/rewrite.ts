/**
 * Replaces the last commit of a branch that belongs to one session, as a compare-and-set of the ref. Unlike a landing, the
 * new commit need not build on the old one, so it is only for a commit that nobody else has seen.
 */
import { AntiphonError, isRefName } from "@antiphon/contracts";
import { DURABLE, flushRef } from "../disk/durable.ts";
import { firstLine, runGit } from "../process/git-process.ts";
import { openRepo, tipOf, type RepoLike } from "../repository/repo.ts";
import { requireId } from "../repository/scratch.ts";
import type { LandingOutcome } from "./landing.ts";

/** @throws AntiphonError ANT_LANDING_REF_LOCKED */
export async function rewriteRef(
  repo: RepoLike,
  ref: string,
  next: string,
  old: string,
): Promise<LandingOutcome> {
  const opened = await openRepo(repo);
  if (!ref.startsWith("refs/heads/") || !isRefName(ref))
    throw new AntiphonError("ANT_REPO_REF_INVALID", `${JSON.stringify(ref.slice(0, 100))} is not a branch`);
  const args = ["update-ref", "-m", "antiphon: amend", ref, requireId(next), requireId(old)];
  const result = await runGit({ gitDir: opened.commonDir, args, settings: DURABLE });
  const actual = result.exitCode === 0 ? next : await tipOf(opened, ref);
  if (actual === old)
    throw new AntiphonError("ANT_LANDING_REF_LOCKED", firstLine(result.stderr), { data: { ref } });
  if (actual !== next) return { kind: "moved", actual };
  await flushRef(opened, ref);
  return { kind: result.exitCode === 0 ? "landed" : "already", actual: next };
}
