// Writes what people say to a run that is under way. Invariants: see gateway.ts.
import { AntiphonError } from "@antiphon/contracts";
import { runView } from "@antiphon/run";
import type { StoredRecord } from "@antiphon/contracts";
import { isOver, sideEventOf } from "./side-event.ts";
import type { Answer, Approval } from "./side-event.ts";
import { wordOf } from "./word.ts";
import type { Gateway } from "../gateway.ts";
import type { Backend } from "../ports.ts";

/** Others may say something between our look and our word; who loses that often is told to ask again. */
const TRIES = 8;

export function sideEvents(
  backend: Backend,
  records: (runId: string) => Promise<StoredRecord[]>,
): Gateway["say"] {
  return async (runId, body, principal) => {
    const event = sideEventOf(body); // G1
    return event.kind === "cancel" ? cancel(runId, event.reason, principal) : say(runId, event, principal);
  };

  async function cancel(runId: string, reason: string, by: string): Promise<Record<string, unknown>> {
    const view = runView(await records(runId));
    const { status } = view;
    // What was asked for has happened: saying it again is no mistake.
    if (status === "canceled") return { runId, event: "cancel", accepted: true };
    if (isOver(view))
      throw new AntiphonError("ANT_RUN_TERMINAL", `${runId} is over: ${status}`, { data: { status } }); // G4
    // A second cancel with other words is still the same wish: whoever was first is on record.
    const words = { by, reason };
    await backend.append({ type: "cancel", runId, taskId: null, epoch: 0, cause: null, body: words });
    backend.hintCancel(runId);
    return { runId, event: "cancel", accepted: true };
  }

  async function say(runId: string, event: Answer | Approval, by: string): Promise<Record<string, unknown>> {
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const { step, record } = wordOf(await records(runId), event, by); // G4
      const name = event.kind === "answer" ? event.event : event.kind;
      const { id: taskId, epoch, approval } = step;
      const about = approval === undefined ? {} : { verdict: approval.verdict };
      const answer = { runId, event: name, accepted: true, taskId, epoch, ...about };
      if (record === null) return { ...answer, already: true };
      // Somebody else was faster: what that makes of ours is judged anew.
      if ((await backend.append(record)).kind !== "conflict") return answer;
    }
    throw new AntiphonError("ANT_GATEWAY_BUSY", `many people speak to ${runId} at once`);
  }
}
