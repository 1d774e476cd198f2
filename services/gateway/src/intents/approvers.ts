// Whether a run that asks for approvals can ever get them. Pure.
import { AntiphonError, isSharedPrincipal, mayApprove } from "@antiphon/contracts";
import type { RunOptions } from "@antiphon/contracts";

/** @throws AntiphonError ANT_INTENT_OPTIONS where more people have to approve than this deployment can tell apart. */
export function checkApprovers(options: RunOptions, requester: string, people: readonly string[]): void {
  if (options.approvals === undefined) return;
  const { needed } = options.approvals;
  const known = isSharedPrincipal(requester) ? [...people, requester] : people;
  const eligible = known.filter((person) => mayApprove(person, requester)).length;
  if (needed <= eligible) return;
  const path = "/constraints/approvals/needed";
  const message = `${path}: ${needed} people have to approve, and ${eligible} whose approval counts can be told apart here`;
  throw new AntiphonError("ANT_INTENT_OPTIONS", message, { data: { path, needed, eligible } });
}
