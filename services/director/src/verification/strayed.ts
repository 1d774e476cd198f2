/**
 * Finds the paths of a moved change that were never permitted. Git follows a file that the target branch has renamed, so a change
 * that was moved to the new tip may touch other paths than those that policy, grants, scopes and people decided about.
 */
import { checkPatch, type ReplayedCommit } from "@antiphon/git";
import { intentOf, type RunState } from "@antiphon/run";
import type { RepositoryPort } from "../ports.ts";
import { touchedPaths } from "./policy-bounds.ts";

type Repository = Pick<RepositoryPort, "diff">;

/** Why a commit may not land there, in words; null: it touches only paths that it touched when it was verified. */
export async function strayed(
  run: RunState,
  commits: readonly ReplayedCommit[],
  repository: Repository,
): Promise<string | null> {
  const { repo } = intentOf(run).base;
  for (const { of, head, commit } of commits) {
    const made = run.tasks.find(({ phase }) => phase.kind === "done" && phase.commit === of);
    if (made?.phase.kind !== "done") return `no task of the run made ${of}`;
    const before = checkPatch(await repository.diff(repo, made.phase.verdict.head, of));
    const there = checkPatch(await repository.diff(repo, head, commit));
    if (!there.ok) return there.message;
    const known = new Set(before.ok ? before.files.flatMap(touchedPaths) : []);
    const path = there.files.flatMap(touchedPaths).find((one) => !known.has(one));
    if (path !== undefined) return `it would touch ${path} there, which it did not when it was verified`;
  }
  return null;
}
