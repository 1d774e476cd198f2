/**
 * The landings of a run, each one compare-and-set of one ref: a task's commit on the run's own branch, and the finished
 * run on the branch the caller asked for.
 */
import { AntiphonError, type LandingBody } from "@antiphon/contracts";
import { intentOf, runBranch, type EffectOf, type RunState } from "@antiphon/run";
import type { RepositoryPort } from "../ports.ts";

interface LandingPorts {
  readonly repository: RepositoryPort;
}

export async function land(
  run: RunState,
  { phase: { verdict } }: EffectOf<"land">,
  { repository }: LandingPorts,
): Promise<LandingBody> {
  const { base, options } = intentOf(run);
  if (verdict.commit === null)
    throw new AntiphonError("ANT_JOURNAL_GAP", "an accepted verdict without a commit");
  const previous = run.head === base.commit ? null : run.head;
  if (options.race !== undefined) {
    const won = await repository.land(base.repo, raceBranch(options.race), verdict.commit, null);
    if (won.kind === "refused") return lost(won, options.race);
  }
  return repository.land(base.repo, runBranch(run.runId), verdict.commit, previous);
}

/**
 * A branch that must not exist yet decides a race, because git lets only one run make it. It is made before the run's own
 * branch: a Director that dies between the two finds its own commit there.
 */
export function raceBranch(race: string): string {
  return `refs/heads/antiphon/${race}`;
}

function lost(refused: Extract<LandingBody, { kind: "refused" }>, race: string): LandingBody {
  if (refused.code !== "ANT_LANDING_HEAD_MOVED") return refused;
  const message = `another run of ${race} landed first: ${refused.message}`;
  return { kind: "refused", code: "ANT_RACE_LOST", message };
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
