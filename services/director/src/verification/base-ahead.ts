/**
 * Begins the checks of a task on the base when its attempt is dispatched. They run as often as a demand that is known now
 * wants; what only the change can demand is run again in the verification (kept-base.ts).
 */
import { intentOf, type EffectOf, type RunState } from "@antiphon/run";
import type { RepositoryPort, RoomOutcome } from "../ports.ts";
import type { BaseTrials } from "./base-trials.ts";
import type { Checks } from "./checks-of.ts";
import { demandOf, needsBase } from "./demand.ts";
import { roomRequest, tenantOf, trialsOf } from "./room-request.ts";
import { ONCE } from "./trials.ts";

interface Ports {
  readonly repository: Pick<RepositoryPort, "follow" | "exportBase" | "exportHistory">;
  readonly bases: BaseTrials;
  /** When it rejects, there is no environment to run anything in. */
  readonly prepared: Promise<unknown>;
}

/** Null: the trials are no answer, or the verification of this task has no use for them. Never rejects. */
export function baseAhead(
  run: RunState,
  { taskId, epoch, task }: EffectOf<"dispatch">,
  { commands: checks, discovered }: Checks,
  { repository, bases, prepared }: Ports,
): Promise<RoomOutcome | null> {
  return bases.begin(async () => {
    if (checks.length === 0 || task.planned.task.kind !== "edit_repo") return null;
    const { base, policy } = intentOf(run);
    const chance = await repository.follow(base.repo, run.head, { checks, discovered, base: base.commit });
    const trials = needsBase(demandOf(run, task), policy) ? trialsOf(run, task, chance) : ONCE;
    const order = { taskId, epoch, task, checks, candidate: null, trials };
    const request = await roomRequest(run, order, repository);
    await prepared;
    return { tenant: tenantOf(run), request };
  });
}
