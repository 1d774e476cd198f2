// Which of the branches that runs left in a repository may be deleted. Pure.

export interface RunBranch {
  /** refs/heads/antiphon/<runId> */
  readonly ref: string;
  readonly runId: string;
  readonly commit: string;
  /** Milliseconds since 1970: when its last commit was made. */
  readonly committedAt: number;
  /** Its commits are all in HEAD. */
  readonly isMerged: boolean;
  /** A work tree has it checked out. */
  readonly isCheckedOut: boolean;
}

export interface PrunePolicy {
  /** Milliseconds; a branch that is not merged is deleted only above this age. Null: only merged ones. */
  readonly olderThanMs: number | null;
}

export type Decision = { readonly branch: RunBranch; readonly why: string } & (
  { readonly kind: "delete" } | { readonly kind: "keep" }
);

/** Longer than any run lasts. A younger branch may belong to an open run of another deployment. */
const LONGEST_RUN_MS = 7 * 86_400_000;

/** `hasEnded`: for each run that the gateway lists. */
export function prunePlan(
  branches: readonly RunBranch[],
  { olderThanMs }: PrunePolicy,
  hasEnded: ReadonlyMap<string, boolean>,
  now: number,
): Decision[] {
  return branches.map((branch): Decision => {
    const ended = hasEnded.get(branch.runId);
    if (ended === false) return { kind: "keep", branch, why: "its run has not ended" };
    if (ended === undefined && now - branch.committedAt < LONGEST_RUN_MS)
      return { kind: "keep", branch, why: "the gateway does not list its run" };
    if (branch.isCheckedOut) return { kind: "keep", branch, why: "it is checked out" };
    if (branch.isMerged) return { kind: "delete", branch, why: "merged" };
    if (olderThanMs !== null && now - branch.committedAt > olderThanMs)
      return { kind: "delete", branch, why: "not merged, but old" };
    return { kind: "keep", branch, why: "not merged" };
  });
}
