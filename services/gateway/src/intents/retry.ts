// Decides which run may be retried, and the id of its retry. A closed run never changes, so a retry is a new run. Pure.
import { AntiphonError, sha256Hex } from "@antiphon/contracts";
import type { StoredRecord } from "@antiphon/contracts";

/** The intent of a failed or canceled run; any other run is refused. */
export function retryable(records: readonly StoredRecord[]): { runId: string; intentId: string } {
  const intent = records.find((record) => record.type === "intent");
  const closed = records.find((record) => record.type === "closed");
  if (intent === undefined) throw new AntiphonError("ANT_RUN_NOT_FOUND", "the run has no intent");
  const status = closed?.body.status ?? "not over";
  if (status === "failed" || status === "canceled")
    return { runId: intent.runId, intentId: intent.body.intentId };
  throw new AntiphonError("ANT_RUN_NOT_RETRYABLE", `${intent.runId} is ${status}`, { data: { status } });
}

/** A failed run has one retry. If the retry fails too, it has its own. */
export function retryIdOf(runId: string): string {
  return `run_${sha256Hex(JSON.stringify(["retry", runId])).slice(0, 20)}`;
}
