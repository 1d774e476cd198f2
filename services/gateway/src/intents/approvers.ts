// Refuses a run that demands more approvals than this deployment has eligible approvers. Pure.
import { AntiphonError, isSharedPrincipal, mayApprove } from "@antiphon/contracts";
import type { RunOptions } from "@antiphon/contracts";

/** @throws AntiphonError ANT_INTENT_OPTIONS if more people must approve than this deployment can tell apart */
export function checkApprovers(options: RunOptions, requester: string, people: readonly string[]): void {
  if (options.approvals === undefined) return;
  const { needed } = options.approvals;
  const known = isSharedPrincipal(requester) ? [...people, requester] : people;
  const eligible = known.filter((person) => mayApprove(person, requester)).length;
  if (needed <= eligible) return;
  const path = "/constraints/approvals/needed";
  const message = `${path}: ${needed} people have to approve, but this deployment can tell apart only ${eligible} whose approval counts`;
  throw new AntiphonError("ANT_INTENT_OPTIONS", message, { data: { path, needed, eligible } });
}
