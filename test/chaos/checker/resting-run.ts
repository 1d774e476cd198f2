/**
 * Whether a run waits for a person: for an answer, a decision about a change, or the end of a pause. It may wait for ever.
 */
import type { StoredRecord } from "@antiphon/contracts";
import { decisionOn } from "./approved.ts";

export function restsOnPeople(records: readonly StoredRecord[]): boolean {
  const asked = new Set<string>();
  let paused = false;
  for (const record of records) {
    const key = `${record.taskId} ${record.epoch}`;
    if (record.type === "result" && record.body.kind === "reported") {
      if (record.body.result.status === "needs_input") asked.add(key);
    } else if (record.type === "verdict" && record.taskId !== null && record.body.commit !== null) {
      if (decisionOn(record, records).kind === "open") asked.add(key);
    } else if (record.type === "input") asked.delete(key);
    else if (record.type === "control") paused = record.body.kind === "pause";
    else if (record.type === "cancel") return false;
  }
  return paused || asked.size > 0;
}
