/** The repository that checks find in a clean room: none, unless the run or its repository asks for one. */
import { AntiphonError, DEFAULT_HISTORY, type HistoryRef, type RepoBase } from "@antiphon/contracts";
import { intentOf, type RunState } from "@antiphon/run";
import type { RepositoryPort } from "../ports.ts";

type Source = Pick<RepositoryPort, "exportHistory">;

export async function historyOf(run: RunState, head: string, source: Source): Promise<HistoryRef | null> {
  const { options, base } = intentOf(run);
  if (options.verify_git !== true) return null;
  // A check that needs a repository needs at least the commit itself.
  return requiredHistory(base, head, Math.max(1, options.history ?? DEFAULT_HISTORY), source);
}

/** @throws AntiphonError ANT_REPO_UNREADABLE if the commit does not fit in a sandbox */
export async function requiredHistory(
  base: RepoBase,
  head: string,
  commits: number,
  source: Source,
): Promise<HistoryRef> {
  const history = await source.exportHistory(base, head, commits);
  if (history !== null) return history;
  throw new AntiphonError("ANT_REPO_UNREADABLE", `${head} is too large for a repository in the clean room`);
}
