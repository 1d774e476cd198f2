/**
 * The timers of a run, derived from its state, and the step that follows when one comes due. Pure: the current time is
 * the server's timestamp of the message that came due.
 *
 * An attempt is lost when its claim is older than its budget and grace, even if its holder still sends heartbeats.
 *
 * Because a timer may fire twice, late or after its reason is gone, it changes a run only through a record, and only while
 * the run still waits for it, so that a repeated timer leads to the same record or to none (run/R1).
 */
import type { TimerAddress } from "@antiphon/contracts";
import type { RunSnapshot } from "../machine/replay.ts";
import type { TaskState } from "../state/run-state.ts";

export interface TimerBounds {
  /** Time an attempt has after its budget to end by itself. */
  readonly graceMs: number;
  /** How long a question waits if the run sets no time. */
  readonly questionMs: number;
}

export type Timer = TimerAddress & { readonly at: Date };

export type DueStep =
  /** The run no longer waits for it. */
  | { kind: "moot" }
  /** The deadline moved, for example because the attempt was claimed late. */
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
    const budgetS = run.context.facts.intent?.options.run_time_budget_s ?? 0;
    return now < at ? { kind: "later", at } : { kind: "overspent", budgetS };
  }
  const task = run.context.tasks.find(
    ({ planned }) => planned.task.task_id.toLowerCase() === timer.taskId?.toLowerCase(),
  );
  const waiting = task === undefined ? null : timerOf(run, task, bounds);
  if (task === undefined || waiting?.kind !== timer.kind || waiting.epoch !== timer.epoch)
    return { kind: "moot" }; // run/R1
  if (now < waiting.at) return { kind: "later", at: waiting.at };
  const at = { taskId: task.planned.task.task_id, epoch: timer.epoch };
  switch (task.phase.kind) {
    case "claimed":
      return { kind: "lapse", ...at, holder: task.phase.associate }; // The lease is over, whatever the holder's heartbeats say.
    case "dispatched":
      return { kind: "later", at: after(now, attemptMs(task, bounds)) }; // Not claimed yet, so there is no lease to expire.
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
      const seconds = run.context.facts.intent?.options.question_timeout_s;
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
  const { intent, openedAt } = context.facts;
  const seconds = intent?.options.run_time_budget_s;
  if (seconds === undefined || openedAt === null || context.cancel !== null) return null;
  return after(new Date(openedAt), seconds * 1000);
}
