// Pauses and resumes a run by writing numbered `control` records.
import { AntiphonError } from "@antiphon/contracts";
import type { RunFacts } from "@antiphon/run";
import type { ControlBody, NewRecord } from "@antiphon/contracts";
import { controlReason } from "./control.ts";
import type { Gateway } from "../gateway.ts";
import type { Backend } from "../ports.ts";

export interface Controlled {
  readonly runId: string;
  readonly event: ControlBody["kind"];
  readonly accepted: true;
  /** The run was already in that state, so nothing was written. */
  readonly already: boolean;
}

/** Another request may write between our read and our write; after this many lost races the caller gets an error. */
const TRIES = 8;

export function runControl(
  backend: Backend,
  facts: (runId: string) => Promise<RunFacts>,
): Gateway["control"] {
  return async (runId, kind, { body, principal }) => {
    const reason = controlReason(body); // gateway/G1
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const { closed, control } = await facts(runId);
      if (closed !== null) {
        const { status } = closed;
        throw new AntiphonError("ANT_RUN_TERMINAL", `${runId} is over: ${status}`, { data: { status } });
      }
      const { n, kind: now } = control ?? { n: 0, kind: "resume" };
      if (now === kind) return { runId, event: kind, accepted: true, already: true };
      const words = { kind, by: principal, ...(reason === "" ? {} : { reason }) };
      const record: NewRecord = {
        type: "control",
        runId,
        taskId: null,
        epoch: n + 1,
        cause: null,
        body: words,
      };
      const outcome = await backend.append(record);
      if (outcome.kind === "conflict") continue;
      return { runId, event: kind, accepted: true, already: outcome.kind === "duplicate" };
    }
    throw new AntiphonError("ANT_GATEWAY_BUSY", `too many requests pause or resume ${runId} at once`);
  };
}
