/** The `approval` of a step: the pending decision about a verified change, and the approvals so far. Pure. */
import { mayApprove, type ApprovalBody } from "../journal/approval.ts";
import type { StepApproval } from "../seeds/run-view-model.ts";

/** The requester of a run, and the number of required approvals. */
export interface Asked {
  readonly requester: string;
  readonly needed: number;
}

export function openApproval(verdict: string, commit: string, { needed }: Asked): StepApproval {
  return { state: "pending", verdict, commit, needed, words: [] };
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
  if (choice === "approve" && (!mayApprove(by, asked.requester) || hasApproved(approval, by)))
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
