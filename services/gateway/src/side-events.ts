// Writes what people say to a run that is under way. Invariants: see service.ts.
import { AntiphonError, runView } from "@antiphon/contracts";
import type { NewRecord, StoredRecord } from "@antiphon/contracts";
import { inputBody, isOver, sideEventOf, waitingStep } from "./core/side-event.ts";
import type { Gateway } from "./service.ts";
import type { Backend } from "./ports.ts";

export function sideEvents(
  backend: Backend,
  records: (runId: string) => Promise<StoredRecord[]>,
): Gateway["say"] {
  return async (runId, body, principal) => {
    const event = sideEventOf(body);
    const view = runView(await records(runId));
    const { status } = view;
    // What was asked for has happened: saying it again is no mistake.
    if (event.kind === "cancel" && status === "canceled") return { runId, event: "cancel", accepted: true };
    if (isOver(view)) {
      throw new AntiphonError("ANT_RUN_TERMINAL", `${runId} is over: ${status}`, { data: { status } }); // G4
    }
    if (event.kind === "cancel") {
      const words = { by: principal, reason: event.reason };
      // A second cancel with other words is still the same wish: whoever was first is on record.
      await backend.append({ type: "cancel", runId, taskId: null, epoch: 0, cause: null, body: words });
      backend.hintCancel(runId);
      return { runId, event: "cancel", accepted: true };
    }
    const { id: taskId, epoch } = waitingStep(view, event.task);
    const record: NewRecord = {
      type: "input",
      runId,
      taskId,
      epoch,
      cause: null,
      body: inputBody(event, principal),
    };
    const outcome = await backend.append(record);
    if (outcome.kind === "conflict") {
      throw new AntiphonError("ANT_RUN_NOT_WAITING", `${taskId} has been answered already`, {
        data: { status },
      });
    }
    return { runId, event: event.event, accepted: true, taskId, epoch };
  };
}
