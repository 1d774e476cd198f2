// Judges runs on record by the stored policy or by another one. Writes nothing and counts no call.
//
// Each run is judged by its own options, its requester, the path of its repository (a brief: of its projects) and the paths that it
// changed. The number of changed lines and links of the repository are not on record, so rules about them are not tried.
import { AntiphonError, isMaterial, validate } from "@antiphon/contracts";
import type { RunFacts } from "@antiphon/run";
import { malformed } from "../http/malformed.ts";
import { briefPlaces } from "../intents/connector-reading.ts";
import type { Backend } from "../ports.ts";
import { pastRun } from "./past-run.ts";
import type { PolicyGuard } from "./policy-guard.ts";
import type { PolicyRefusal } from "./policy.ts";

export interface SimulatedRun {
  readonly runId: string;
  readonly repo: string;
  readonly principal: string;
  readonly profiles: readonly string[];
  /** Null: the policy allows the run. */
  readonly refusal: PolicyRefusal | null;
}

export async function simulatePolicy(
  guard: PolicyGuard,
  backend: Pick<Backend, "inspect" | "connectors">,
  facts: (runId: string) => Promise<RunFacts>,
  body: unknown,
): Promise<{ runs: SimulatedRun[] }> {
  const outcome = validate("PolicySimulation", body ?? null);
  if (!outcome.ok) throw malformed("ANT_CONTRACT_INVALID", outcome.errors);
  const { runs: wanted, policy } = outcome.value;
  const runs: SimulatedRun[] = [];
  for (const runId of new Set(wanted)) {
    const run = pastRun(await facts(runId));
    if (run === null) throw new AntiphonError("ANT_RUN_NOT_FOUND", `${runId} has no intent on record`);
    const { intent, options, principal, repo, changes } = run;
    const places = isMaterial(repo) ? await briefPlaces(backend, intent) : [repo.path];
    const asked = { intent, options, principal, changes, places, landRef: null };
    const { holdings, refusal } = await guard.judge(asked, policy);
    runs.push({ runId, repo: repo.path, principal, profiles: holdings.map(({ key }) => key), refusal });
  }
  return { runs };
}
