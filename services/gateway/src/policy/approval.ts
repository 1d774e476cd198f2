// Whether a run waits for somebody's approval before it lands. Pure.
import type { RunOptions } from "@antiphon/contracts";

/** `constraints.approvals`: nothing of the run lands before people have approved the very change that was verified. */
export function asksApproval({ approvals }: Pick<RunOptions, "approvals">): boolean {
  return approvals !== undefined;
}
