// Pauses and resumes a run: one numbered `control` record each. Invariants: see gateway.ts.
import { AntiphonError } from "@antiphon/contracts";
import { runView } from "@antiphon/run";
import type { ControlBody, NewRecord, StoredRecord } from "@antiphon/contracts";
import { controlReason, lastControl } from "./control.ts";
import { isOver } from "./side-event.ts";
import type { Gateway } from "../gateway.ts";
import type { Backend } from "../ports.ts";

export interface Controlled {
  readonly runId: string;
  readonly event: ControlBody["kind"];
  readonly accepted: true;
  /** The run was in that state before: nothing was written. */
  readonly already: boolean;
}

/** Others may say something between our look and our word; who loses that often is told to ask again. */
const TRIES = 8;

export function runControl(
  backend: Backend,
  records: (runId: string) => Promise<StoredRecord[]>,
): Gateway["control"] {
  return async (runId, kind, { body, principal }) => {
    const reason = controlReason(body); // G1
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const before = await records(runId);
      const view = runView(before);
      if (isOver(view)) {
        const { status } = view;
        throw new AntiphonError("ANT_RUN_TERMINAL", `${runId} is over: ${status}`, { data: { status } }); // G4
      }
      const { n, kind: now } = lastControl(before);
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
      const outcome = await backend.append(record); // G2
      if (outcome.kind === "conflict") continue;
      return { runId, event: kind, accepted: true, already: outcome.kind === "duplicate" };
    }
    throw new AntiphonError("ANT_GATEWAY_BUSY", `${runId} is being paused and resumed by many at once`);
  };
}
