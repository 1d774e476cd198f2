// Replays: `POST /runs/<id>/replay`. An Associate carries out one recorded attempt once more; nothing is stored.
import { validate } from "@antiphon/contracts";
import type { AttemptReplayRequest, ReplayReport } from "@antiphon/contracts";
import { uniqueId } from "@antiphon/runtime";
import { malformed } from "../http/malformed.ts";
import type { PolicyGuard } from "../policy/policy-guard.ts";
import type { Backend } from "../ports.ts";

export interface ReplayController {
  /** @throws AntiphonError with the status of the answer */
  admit(runId: string, body: unknown, principal: string): Promise<AttemptReplayRequest>;
  /** `signal`: the caller has gone away. */
  carryOut(order: AttemptReplayRequest, signal: AbortSignal): Promise<ReplayReport>;
}

export function replayController(
  backend: Backend,
  guard: Pick<PolicyGuard, "admitCall">,
  records: (runId: string) => Promise<unknown>,
): ReplayController {
  return {
    async admit(runId, body, principal) {
      const outcome = validate("ReplayRequest", body ?? null);
      if (!outcome.ok) throw malformed("ANT_CONTRACT_INVALID", outcome.errors);
      await guard.admitCall(principal);
      await backend.admit();
      await records(runId);
      return { replayId: `rpl_${uniqueId()}`, run: runId, ...outcome.value };
    },
    carryOut: (order, signal) => backend.replay(order, signal),
  };
}
