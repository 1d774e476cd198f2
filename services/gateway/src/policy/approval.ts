// Tells whether a run needs approval before it lands. Pure.
import type { RunOptions } from "@antiphon/contracts";

/** `constraints.approvals`: a change lands only after people have approved exactly the verified change. */
export function asksApproval({ approvals }: Pick<RunOptions, "approvals">): boolean {
  return approvals !== undefined;
}
