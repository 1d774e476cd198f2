/** The `approval` of a step: the pending decision about a verified change, and the approvals so far. Pure. */
import { ownerOf, type ApprovalBody } from "../journal/approval.ts";
import type { VerdictBody } from "../journal/verdict.ts";
import type { StepApproval } from "../seeds/run-view-model.ts";

/** Who asked for the work of a run, and the number of approvals that it requires itself. */
export interface Asked {
  /** The requester, and everybody who has told its attempts something. */
  readonly askers: readonly string[];
  readonly needed: number;
}

/** How many people must approve a verified change: the run, the plan and the policy each say so, and the most counts. */
export function approvalsNeeded({ needed }: Asked, { approval }: Pick<VerdictBody, "approval">): number {
  return Math.max(needed, approval?.needed ?? 0);
}

/** `digest`: of the verdict's record. Null: nobody is asked. */
export function openApproval(digest: string, verdict: VerdictBody, asked: Asked): StepApproval | null {
  const needed = approvalsNeeded(asked, verdict);
  const { commit, approval } = verdict;
  if (verdict.verdict !== "PASS" || commit === null || needed === 0) return null;
  const reasons = approval === undefined ? {} : { reasons: approval.reasons };
  return { state: "pending", verdict: digest, commit, needed, ...reasons, words: [] };
}

/** The approval after one more decision. Unchanged if the decision does not count. */
export function afterWord(
  approval: StepApproval,
  body: ApprovalBody,
  at: string,
  asked: Asked,
): StepApproval {
  const { by, choice, reason, verdict } = body;
  if (approval.state !== "pending" || verdict !== approval.verdict) return approval;
  if (choice === "approve" && (ownerOf(by, asked.askers) !== undefined || hasApproved(approval, by)))
    return approval;
  const words = [...approval.words, { choice, by, at, ...(reason === undefined ? {} : { reason }) }];
  return { ...approval, words, state: stateAfter(choice, words.length, approval.needed) };
}

export function hasApproved({ words }: StepApproval, by: string): boolean {
  return words.some((word) => word.by === by && word.choice === "approve");
}

function stateAfter(choice: ApprovalBody["choice"], words: number, needed: number): StepApproval["state"] {
  if (choice === "reject") return "rejected";
  if (choice === "changes") return "changes";
  return words >= needed ? "approved" : "pending"; // While it is pending, every counted decision is an approval.
}
