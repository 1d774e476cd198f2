// Refuses a fork of a run that the caller could not have started: it shows what that run's model was told and has answered. Pure.
import { AntiphonError } from "@antiphon/contracts";
import type { RepoRef, RunOptions, StoredRecord } from "@antiphon/contracts";
import { factsOf, provenBy } from "@antiphon/run";

/**
 * @param repo the repository of the fork, as it was found
 * @param records those of the forked run
 * @returns who chose the proof of the forked run, by its records: what the fork's caller says about it counts for nothing
 * @throws AntiphonError ANT_RUN_NOT_FOUND, also for a run of another repository or tenant, so that its existence is not told
 */
export function checkFork(
  { fork, tenant }: Pick<RunOptions, "fork" | "tenant">,
  repo: RepoRef,
  records: readonly StoredRecord[],
): string[] {
  if (fork === undefined) return [];
  const [source] = records;
  const isKnown =
    source?.type === "intent" &&
    source.body.base.repo.path === repo.path &&
    source.body.options.tenant === tenant;
  if (isKnown) return provenBy(factsOf(records));
  const message = `/inputs/fork/run: this repository has no run ${fork.run}`;
  throw new AntiphonError("ANT_RUN_NOT_FOUND", message, { data: { path: "/inputs/fork/run" } });
}
