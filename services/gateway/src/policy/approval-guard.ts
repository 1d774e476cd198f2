// Asks the policy again when a person approves a change. A change may wait for days, and the policy may be tighter by then:
// what is forbidden now is not approved.
import type { RunFacts } from "@antiphon/run";
import { locate, placesOf } from "../intents/repository-place.ts";
import type { Backend } from "../ports.ts";
import { pastRun } from "./past-run.ts";
import { refused, type PolicyGuard } from "./policy-guard.ts";

/** @throws AntiphonError ANT_POLICY_REFUSED if the deployment's policy does not allow the run any more */
export type ApprovalGuard = (facts: RunFacts) => Promise<void>;

export function approvalGuard(backend: Pick<Backend, "inspect">, guard: PolicyGuard): ApprovalGuard {
  return async (facts) => {
    const run = pastRun(facts);
    if (run === null) return;
    const { intent, options, principal, repo, changes } = run;
    const place = await locate(backend, repo);
    const places = place === null ? [repo.path] : placesOf(place);
    // The rule that asks for an approval is met by the one that is given, whoever asked for it: the run or a gate.
    const approved = { ...options, approvals: options.approvals ?? { needed: 1 } };
    const asked = { intent, options: approved, principal, changes, places, landRef: null };
    const { refusal } = await guard.judge(asked);
    if (refusal !== null) throw refused(refusal);
  };
}
