/** The steps that a record can take a task: to another phase, to its next attempt, to its failure, or nowhere. */
import { limits, type EvidenceRef, type Feedback } from "@antiphon/contracts";
import type { RunPolicy, TaskPhase, TaskState } from "../state/run-state.ts";

export type TaskStep = { kind: "next"; task: TaskState } | { kind: "refused"; reason: string };

export type PhaseOf<K extends TaskPhase["kind"]> = Extract<TaskPhase, { kind: K }>;

export function to(task: TaskState, phase: TaskPhase): TaskStep {
  return { kind: "next", task: { ...task, phase } };
}

export function refused(reason: string): TaskStep {
  return { kind: "refused", reason };
}

export function failed(epoch: number, code: string, message: string): TaskPhase {
  return { kind: "failed", epoch, code, message };
}

/** The next attempt, which is told why this one was not good enough; after policy.maxAttempts the task fails instead. */
export function reject(task: TaskState, policy: RunPolicy, feedback: Feedback): TaskStep {
  const next = { ...task, rejections: task.rejections + 1, feedback: [...task.feedback, feedback] };
  if (next.rejections >= policy.maxAttempts) {
    const attempts = next.rejections === 1 ? "1 attempt" : `${next.rejections} attempts`;
    return to(next, failed(feedback.epoch, feedback.code, `after ${attempts}: ${feedback.message}`));
  }
  return to(next, nextAttempt(feedback.epoch));
}

export function nextAttempt(epoch: number): TaskPhase {
  return { kind: "open", epoch: epoch + 1 };
}

/** A backoff that doubles with each loss, up to limits.lapseRestMaxMs. */
export function backoff(
  epoch: number,
  from: Date,
  before: number,
  { restMs = limits.lapseRestMs }: RunPolicy,
): TaskPhase {
  const ms = Math.min(limits.lapseRestMaxMs, restMs * 2 ** before);
  return { kind: "resting", epoch, until: new Date(from.getTime() + ms) };
}

export function withEvidence(task: TaskState, evidence: EvidenceRef | null): TaskState {
  return evidence === null ? task : { ...task, evidence: [...task.evidence, evidence] };
}
