/** Whether an outcome of the base that was kept answers what a verification asks. Pure. */
import type { SandboxTrials } from "@antiphon/contracts";
import type { RoomOutcome, RoomRequest } from "../ports.ts";
import { isPassed } from "./trials.ts";

/** Trials on the base, and their outcome. */
export interface KeptBase {
  readonly asked: SandboxTrials;
  readonly outcome: RoomOutcome;
}

/** Where the outcomes of bases are kept. */
export interface KeptBases {
  take(request: RoomRequest, signal: AbortSignal): Promise<KeptBase | null>;
}

/** How many trials are wanted is known only with the change. */
export function answers({ asked, outcome }: KeptBase, trials: SandboxTrials): boolean {
  return covers(asked, trials) || differ(outcome);
}

/** Whether trials that were asked for like `asked` are at least as many as `wanted` would be. */
export function covers(asked: SandboxTrials, wanted: SandboxTrials): boolean {
  return asked.least >= wanted.least && asked.most >= wanted.most && asked.withinMs >= wanted.withinMs;
}

/** Trials that differ settle the question. */
function differ({ trials }: RoomOutcome): boolean {
  return trials.some(isPassed) && !trials.every(isPassed);
}
