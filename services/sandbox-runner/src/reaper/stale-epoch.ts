/**
 * Whether anybody can still want the container of an attempt, from what the journal says of its run. Pure.
 *
 * A warm container was labelled before its job was known, so whose it is stands in its name (container-labels.ts).
 *
 * Invariants:
 *   R8  The container of an epoch that was judged, of a task that was handed out again since, or of a run that is closed,
 *       goes, whoever owns it. What does not name an attempt, or one the journal does not know, is left alone.
 */
import type { StoredRecord } from "@antiphon/contracts";

export interface AttemptName {
  readonly runId: string;
  readonly taskId: string;
  readonly epoch: number;
}

/** What the container's name says of its job; null: it says nothing of one. */
export function attemptNamed(name: string, instance: string): AttemptName | null {
  const rest = name.replace(/^\//, "").replace(`antiphon-${instance}-`, "");
  const [, runId, taskId, epoch] = /^(run_[a-z0-9]+)-(.+)-(\d+)-[a-z]+-[a-z0-9]+$/.exec(rest) ?? [];
  if (runId === undefined || taskId === undefined || epoch === undefined) return null;
  return { runId, taskId, epoch: Number(epoch) };
}

/** The types of records that `isOver` looks at. */
export const ENDS = ["dispatch", "verdict", "closed"] as const;

export function isOver(attempt: AttemptName, records: readonly StoredRecord[]): boolean {
  return records.some(({ type, taskId, epoch }) => {
    if (type === "closed") return true;
    if (taskId !== attempt.taskId) return false;
    return type === "verdict" ? epoch >= attempt.epoch : type === "dispatch" && epoch > attempt.epoch;
  });
}
