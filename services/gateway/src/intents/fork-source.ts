// The runs that a run goes on from or does again. Refuses one that the caller could not have started: a fork shows what its model
// was told and has answered. Pure.
import { AntiphonError } from "@antiphon/contracts";
import type { RunOptions, StoredRecord } from "@antiphon/contracts";
import { factsOf, provenBy } from "@antiphon/run";

interface Source {
  /** Where the intent names it. */
  readonly path: string;
  readonly run: string;
}

export function sourcesOf({ fork, again_of }: Pick<RunOptions, "fork" | "again_of">): Source[] {
  return [
    ...(fork === undefined ? [] : [{ path: "/inputs/fork/run", run: fork.run }]),
    ...(again_of === undefined ? [] : [{ path: "/inputs/again_of", run: again_of }]),
  ];
}

/**
 * @param repo the repository of the run that names the source, as it was found
 * @param records those of the source
 * @returns who chose the proof of the source, by its records: what the caller says about it counts for nothing
 * @throws AntiphonError ANT_RUN_NOT_FOUND, also for a run of another repository or tenant, so that its existence is not told
 */
export function checkSource(
  { path, run }: Source,
  { repo, tenant }: Pick<RunOptions, "repo" | "tenant">,
  records: readonly StoredRecord[],
): string[] {
  const [source] = records;
  const isKnown =
    source?.type === "intent" &&
    source.body.base.repo.path === repo.path &&
    source.body.options.tenant === tenant;
  if (isKnown) return provenBy(factsOf(records));
  const message = `${path}: this repository has no run ${run}`;
  throw new AntiphonError("ANT_RUN_NOT_FOUND", message, { data: { path } });
}
