/**
 * The landings of a run, each one compare-and-set of one ref: a task's commit on the run's own branch, and the finished
 * run on the branch the caller asked for.
 */
import { AntiphonError, type LandingBody } from "@antiphon/contracts";
import { intentOf, runBranch, type EffectOf, type RunState } from "@antiphon/run";
import type { RepositoryPort } from "../ports.ts";
import { takeRace, type RacePorts } from "./race.ts";

interface LandingPorts {
  readonly repository: RepositoryPort;
}

export async function land(
  run: RunState,
  { phase: { verdict } }: EffectOf<"land">,
  { repository, journal }: LandingPorts & Pick<RacePorts, "journal">,
): Promise<LandingBody> {
  const { base, options } = intentOf(run);
  if (verdict.commit === null)
    throw new AntiphonError("ANT_JOURNAL_GAP", "an accepted verdict without a commit");
  const previous = run.head === base.commit ? null : run.head;
  if (options.race !== undefined) {
    const race = { name: options.race, repo: base.repo };
    const refusal = await takeRace(race, verdict.commit, { repository, journal }); // director/D13
    if (refusal !== null) return refusal;
  }
  return repository.land(base.repo, runBranch(run.runId), verdict.commit, previous);
}

export async function landIntegration(
  run: RunState,
  { integration: { verdict } }: EffectOf<"land-integration">,
  { repository }: LandingPorts,
): Promise<LandingBody> {
  const { base } = intentOf(run);
  const ref = targetRef(run);
  if (verdict.commit === null)
    return { kind: "refused", code: "ANT_LANDING_CONFLICT", message: verdict.message };
  const isNew = (await repository.tip(base.repo, ref)) === null;
  return repository.land(base.repo, ref, verdict.commit, isNew ? null : verdict.head);
}

/** The branch the caller asked for. */
export function targetRef(run: RunState): string {
  const branch = intentOf(run).options.land_on ?? "";
  return branch.startsWith("refs/") ? branch : `refs/heads/${branch}`;
}
