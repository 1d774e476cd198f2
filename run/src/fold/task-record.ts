/** The records that may change a task. */
import type { StoredRecord } from "@antiphon/contracts";

const TASK_TYPES = ["dispatch", "claim", "result", "verdict", "landing", "input", "approval", "due"] as const;
type TaskType = (typeof TASK_TYPES)[number];

export type RecordOf<T extends TaskType> = Extract<StoredRecord, { type: T }>;
export type TaskRecord = RecordOf<TaskType>;

export function isTaskRecord(record: StoredRecord): record is TaskRecord {
  return (TASK_TYPES as readonly string[]).includes(record.type);
}
