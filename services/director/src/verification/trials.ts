/**
 * How often the checks run, and whether they pass. Pure, but for the clean room it is given.
 *
 * A check that passes once may be flaky, so every check runs at least twice. A short one runs more often, because that
 * costs little; so does one with a source of chance, and one that was flaky in an earlier attempt. All trials run in one
 * clean room, which the runner restores between them; where it cannot, fresh clean rooms take the missing ones.
 */
import { limits, type CheckOutcome, type SandboxTrials } from "@antiphon/contracts";
import type { Chance } from "@antiphon/git";
import type { CleanRoomPort, RoomOutcome, RoomRequest } from "../ports.ts";

/** The outcomes of all checks, once for each trial. */
export type Trials = readonly (readonly CheckOutcome[])[];

export interface Wariness {
  /** RunOptions.trials: exactly so many. */
  asked: number | undefined;
  /** The least number that the deployment's policy allows. */
  atLeast: number | undefined;
  chance: Chance | null;
  wasFlaky: boolean;
}

const WITHIN_MS: Readonly<Record<Chance | "none", number>> = {
  "random numbers": limits.verifyRandomMs,
  timing: limits.verifyTimingMs,
  none: limits.verifyTrialsMs,
};

export const ONCE: SandboxTrials = { least: 1, most: 1, withinMs: 0 };

export function trialsFor({ asked, atLeast = 1, chance, wasFlaky }: Wariness): SandboxTrials {
  if (asked !== undefined) {
    const exactly = Math.max(asked, atLeast);
    return { least: exactly, most: exactly, withinMs: 0 };
  }
  const least = Math.max(2, atLeast);
  const withinMs = wasFlaky ? WITHIN_MS["random numbers"] : WITHIN_MS[chance ?? "none"];
  return { least, most: Math.max(least, limits.verifyTrials), withinMs };
}

/** Runs the checks in a clean room, and in fresh ones if the first could not be restored. */
export async function runTrials(
  request: RoomRequest,
  room: CleanRoomPort,
  signal: AbortSignal,
): Promise<RoomOutcome> {
  const first = await room.check(request, signal);
  const trials = [...first.trials];
  while (trials.length < request.trials.least && !isSettled(trials)) {
    const more = await room.check({ ...request, trials: ONCE }, signal);
    trials.push(...more.trials);
  }
  return { ...first, trials };
}

/** Trials that differ settle the question, and a timeout counts at once. */
function isSettled(trials: Trials): boolean {
  const passed = trials.map(isPassed);
  return passed.includes(true) === passed.includes(false) || trials.flat().some(({ timedOut }) => timedOut);
}

export function isPassed(checks: readonly CheckOutcome[]): boolean {
  return firstFailure(checks) === undefined;
}

export function firstFailure(checks: readonly CheckOutcome[]): CheckOutcome | undefined {
  return checks.find((check) => check.exitCode !== 0);
}

/** Whether the checks were tried, and passed in each trial. */
export function allPass(trials: Trials | null): boolean {
  return trials?.every(isPassed) === true;
}

/** Whether the checks were tried, and failed in a trial. */
export function anyFails(trials: Trials | null): boolean {
  return trials?.every(isPassed) === false;
}

/** The checks of the trial that decides: one that failed, if any did. */
export function deciding(trials: Trials): readonly CheckOutcome[] {
  return trials.find((checks) => !isPassed(checks)) ?? trials[0] ?? [];
}

/** The time of all checks in the first trial. */
export function tookMs([checks = []]: Trials): number {
  return checks.reduce((sum, { durationMs }) => sum + durationMs, 0);
}
