// Asks the policy when a person who was asked for a check takes the changes without proof: what the option allow_unverified
// needs at the start of a run, the answer needs too, for the run's requester and for the one who answers.
import type { RunFacts } from "@antiphon/run";
import { locate, placesOf } from "../intents/repository-place.ts";
import type { Backend } from "../ports.ts";
import { pastRun } from "./past-run.ts";
import { refused, type PolicyGuard } from "./policy-guard.ts";

/** `by`: who answers. @throws AntiphonError ANT_POLICY_REFUSED */
export type UnprovenGuard = (facts: RunFacts, by: string) => Promise<void>;

export function unprovenGuard(backend: Pick<Backend, "inspect">, guard: PolicyGuard): UnprovenGuard {
  return async (facts, by) => {
    const run = pastRun(facts);
    if (run === null) return;
    const { intent, principal, repo, changes } = run;
    const options = { ...run.options, allow_unverified: true };
    const place = await locate(backend, repo);
    const places = place === null ? [repo.path] : placesOf(place);
    for (const one of new Set([principal, by])) {
      const asked = { intent, options, principal: one, changes, places, landRef: null };
      const { refusal } = await guard.judge(asked);
      if (refusal !== null) throw refused(refusal);
    }
  };
}
