// Asks the policy again when a person approves a change. A change may wait for days, and the policy may be another one by
// then. A change that the new policy forbids is refused by its rule. The approval of any other change is stale, because the
// old policy judged it.
//
// Because an approval counts only while the profiles that the run began under are those that apply, nobody approves a
// change under a policy that did not judge it (run/R10).
import { AntiphonError } from "@antiphon/contracts";
import type { RunFacts } from "@antiphon/run";
import { locate, placesOf } from "../intents/repository-place.ts";
import type { Backend } from "../ports.ts";
import { pastRun } from "./past-run.ts";
import { policyChanged } from "./policy-digest.ts";
import { refused, type PolicyGuard } from "./policy-guard.ts";

/**
 * @throws AntiphonError ANT_POLICY_REFUSED if the deployment's policy does not allow the run any more; ANT_APPROVAL_STALE if
 * it is another policy than the one that the run began under
 */
export type ApprovalGuard = (facts: RunFacts) => Promise<void>;

export function approvalGuard(backend: Pick<Backend, "inspect">, guard: PolicyGuard): ApprovalGuard {
  return async (facts) => {
    const run = pastRun(facts);
    if (run === null) return;
    const { intent, options, principal, repo, changes } = run;
    const place = await locate(backend, repo);
    const places = place === null ? [repo.path] : placesOf(place);
    // The approval counts for every rule that asks for one, those of the run and those of a gate alike.
    const approved = { ...options, approvals: options.approvals ?? { needed: 1 } };
    const asked = { intent, options: approved, principal, changes, places, landRef: null };
    const { refusal, holdings, bounds } = await guard.judge(asked);
    if (refusal !== null) throw refused(refusal);
    const began = facts.intent?.policy?.digest; // Older records have none.
    if (began === undefined || began === bounds.digest) return; // run/R10
    const what = `${policyChanged(repo.path, holdings)}; reject the change and retry the run`;
    throw new AntiphonError("ANT_APPROVAL_STALE", what, {
      data: { policy: bounds.profiles, began, now: bounds.digest },
    });
  };
}
