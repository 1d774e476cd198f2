/**
 * Decides from the journal's records of a run whether an attempt is over. Pure.
 *
 * A warm container was labelled before its job was known, so the attempt is read from its name (container-labels.ts).
 *
 * An attempt is over when its epoch was judged, its task was dispatched again, or its run is closed, whoever owns the
 * container. Its holder hears of that too, and has some seconds to read what the attempt left. A container whose name holds no attempt, or one that the journal does not know, is left alone.
 */
import { limits, type StoredRecord } from "@antiphon/contracts";

export interface AttemptName {
  readonly runId: string;
  readonly taskId: string;
  readonly epoch: number;
}

/** The attempt in the container's name, or null. */
export function attemptNamed(name: string, instance: string): AttemptName | null {
  const rest = name.replace(/^\//, "").replace(`antiphon-${instance}-`, "");
  const [, runId, taskId, epoch] = /^(run_[a-z0-9]+)-(.+)-(\d+)-[a-z]+-[a-z0-9]+$/.exec(rest) ?? [];
  if (runId === undefined || taskId === undefined || epoch === undefined) return null;
  return { runId, taskId, epoch: Number(epoch) };
}

/** The record types that `isOver` reads. */
export const ENDS = ["dispatch", "verdict", "closed"] as const;

const HOLDERS_TURN_MS = limits.cancelCollectMs + limits.cancelMs;

export function isOver(attempt: AttemptName, records: readonly StoredRecord[], nowMs: number): boolean {
  return records.some(({ type, taskId, epoch, at }) => {
    if (nowMs - at.getTime() < HOLDERS_TURN_MS) return false;
    if (type === "closed") return true;
    if (taskId !== attempt.taskId) return false;
    return type === "verdict" ? epoch >= attempt.epoch : type === "dispatch" && epoch > attempt.epoch;
  });
}
