import type { RunState } from "./run-state.ts";

/** Whether a change may land that nothing proves: its caller allows it, or a person who was asked for a check. */
export function allowsUnverified({ facts, unverified }: Pick<RunState, "facts" | "unverified">): boolean {
  return unverified || facts.intent?.options.allow_unverified === true;
}
