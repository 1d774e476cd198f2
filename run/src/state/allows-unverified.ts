import type { RunState } from "./run-state.ts";

/** Whether an unproven change may land, because the run's caller allows it or a person who was asked for a check does. */
export function allowsUnverified({ facts, unverified }: Pick<RunState, "facts" | "unverified">): boolean {
  return unverified || facts.intent?.options.allow_unverified === true;
}
