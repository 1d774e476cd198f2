/** A run as a Director knows it: the records that it has, and the state folded from them. */
import type { StoredRecord } from "@antiphon/contracts";
import type { RunSnapshot, RunState } from "@antiphon/run";

export interface CachedRun {
  records: readonly StoredRecord[];
  snapshot: RunSnapshot;
}

/** director/D3: whether no record before the last one can be missing. */
export function isGapless({ records }: CachedRun): boolean {
  return records.every((record, i) => {
    const before = records[i - 1];
    return before === undefined ? record.type === "intent" : record.after === before.seq;
  });
}

/** A linear run: each task depends on the one before it, so one line of causes goes through the whole run. */
export function isChain({ tasks }: RunState): boolean {
  return tasks.every((task, i) => {
    const before = tasks[i - 1]?.planned.task.task_id;
    return before === undefined || task.planned.deps.includes(before);
  });
}
