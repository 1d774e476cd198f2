// Refuses a fork of a run that the caller could not have started: it shows what that run's model was told and has answered. Pure.
import { AntiphonError } from "@antiphon/contracts";
import type { RepoRef, RunOptions, StoredRecord } from "@antiphon/contracts";

/**
 * @param repo the repository of the fork, as it was found
 * @param source the intent record of the forked run, or null
 * @throws AntiphonError ANT_RUN_NOT_FOUND, also for a run of another repository or tenant, so that its existence is not told
 */
export function checkFork(
  { fork, tenant }: Pick<RunOptions, "fork" | "tenant">,
  repo: RepoRef,
  source: StoredRecord | null,
): void {
  if (fork === undefined) return;
  const isKnown =
    source?.type === "intent" &&
    source.body.base.repo.path === repo.path &&
    source.body.options.tenant === tenant;
  if (isKnown) return;
  const message = `/inputs/fork/run: this repository has no run ${fork.run}`;
  throw new AntiphonError("ANT_RUN_NOT_FOUND", message, { data: { path: "/inputs/fork/run" } });
}
