/**
 * What a run waits for by the clock, read off its state, and what follows when such a time has come. Pure: the time that
 * comes in is the server's, from the message that came due.
 *
 * Invariants:
 *   D14 A time that came due changes a run through a record only, and only while the run still waits for it: told
 *       twice, late or wrongly, it comes to the same record or to none.
 *   D15 A claim is lost when it is older than the attempt's budget and its grace, whatever its holder's heart says.
 */
import type { TimerAddress } from "@antiphon/contracts";
import type { RunSnapshot } from "../machine/run-machine.ts";
import type { TaskState } from "../state/run-state.ts";

export interface TimerBounds {
  /** What an attempt has beyond its budget to come to an end by itself. */
  readonly graceMs: number;
  /** How long a question waits where the run does not say. */
  readonly questionMs: number;
}

export type Timer = TimerAddress & { readonly at: Date };

export type DueStep =
  /** Nobody waits for it any more. */
  | { kind: "moot" }
  /** Not yet: the time moved on, for example because the attempt was claimed late. */
  | { kind: "later"; at: Date }
  | { kind: "lapse"; taskId: string; epoch: number; holder: string }
  | { kind: "due"; taskId: string; epoch: number; of: "rest" | "question" }
  | { kind: "overspent"; budgetS: number };

const after = (at: Date, ms: number): Date => new Date(at.getTime() + ms);

export function timersOf(run: RunSnapshot, bounds: TimerBounds): Timer[] {
  if (run.status !== "active") return [];
  const { runId, tasks } = run.context;
  const at = budgetEnd(run);
  const budget: Timer[] = at === null ? [] : [{ kind: "budget", runId, taskId: null, epoch: 0, at }];
  return [...budget, ...tasks.flatMap((task) => timerOf(run, task, bounds) ?? [])];
}

export function dueStep(run: RunSnapshot, timer: TimerAddress, now: Date, bounds: TimerBounds): DueStep {
  if (run.status !== "active") return { kind: "moot" };
  if (timer.kind === "budget") {
    const at = budgetEnd(run);
    if (at === null) return { kind: "moot" };
    const budgetS = run.context.intent?.options.run_time_budget_s ?? 0;
    return now < at ? { kind: "later", at } : { kind: "overspent", budgetS };
  }
  const task = run.context.tasks.find(
    ({ planned }) => planned.task.task_id.toLowerCase() === timer.taskId?.toLowerCase(),
  );
  const waiting = task === undefined ? null : timerOf(run, task, bounds);
  if (task === undefined || waiting?.kind !== timer.kind || waiting.epoch !== timer.epoch)
    return { kind: "moot" }; // D14
  if (now < waiting.at) return { kind: "later", at: waiting.at };
  const at = { taskId: task.planned.task.task_id, epoch: timer.epoch };
  switch (task.phase.kind) {
    case "claimed":
      return { kind: "lapse", ...at, holder: task.phase.associate }; // D15
    case "dispatched":
      return { kind: "later", at: after(now, attemptMs(task, bounds)) }; // Nobody took it yet: there is no claim to lose.
    case "resting":
      return { kind: "due", ...at, of: "rest" };
    case "asking":
      return { kind: "due", ...at, of: "question" };
    default:
      return { kind: "moot" };
  }
}

function timerOf(run: RunSnapshot, task: TaskState, bounds: TimerBounds): Timer | null {
  const { phase, planned } = task;
  const address = { runId: run.context.runId, taskId: planned.task.task_id, epoch: phase.epoch };
  switch (phase.kind) {
    case "dispatched":
    case "claimed":
      return { kind: "deadline", ...address, at: after(phase.at, attemptMs(task, bounds)) };
    case "resting":
      return { kind: "rest", ...address, at: phase.until };
    case "asking": {
      const seconds = run.context.intent?.options.question_timeout_s;
      const ms = seconds === undefined ? bounds.questionMs : seconds * 1000;
      return { kind: "question", ...address, at: after(phase.at, ms) };
    }
    default:
      return null;
  }
}

function attemptMs({ planned }: TaskState, { graceMs }: TimerBounds): number {
  return planned.task.time_budget_s * 1000 + graceMs;
}

function budgetEnd({ context }: RunSnapshot): Date | null {
  const seconds = context.intent?.options.run_time_budget_s;
  if (seconds === undefined || context.openedAt === null || context.cancel !== null) return null;
  return after(context.openedAt, seconds * 1000);
}
