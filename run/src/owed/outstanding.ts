/**
 * The effects a run still needs, derived from its state. The same state always gives the same effects, so a
 * redelivery, a sweep and a second Director all end in the same single-assignment records.
 *
 * Proposals queue for the clean room in stream order.
 *
 * Promises:
 *   run/R5 Because a verdict holds only for the head it was made on, a task starts from the head that holds the changes
 *     of all its dependencies, and at most one task of a run is between its clean room and its landing, so the verified
 *     commit is the commit that lands.
 */
import type { RunSnapshot } from "../machine/replay.ts";
import { isPaused } from "../facts/run-facts.ts";
import {
  isReady,
  type Integration,
  type RunState,
  type TaskPhase,
  type TaskState,
} from "../state/run-state.ts";

type Phase<K extends TaskPhase["kind"]> = Extract<TaskPhase, { kind: K }>;

/** The task and epoch of the record that an effect leads to; of the whole run: null. */
interface Place {
  readonly taskId: string | null;
  readonly epoch: number;
}

interface OfTask extends Place {
  readonly taskId: string;
  readonly task: TaskState;
}

export type Effect =
  | ({ kind: "dispatch" } & OfTask)
  | ({ kind: "verify"; phase: Phase<"proposed"> } & OfTask)
  | ({ kind: "land"; phase: Phase<"accepted"> } & OfTask)
  | ({ kind: "verify-integration" } & Place)
  | ({ kind: "land-integration"; integration: Extract<Integration, { kind: "accepted" }> } & Place)
  | ({ kind: "close"; poisoned: readonly PoisonedTask[] } & Place);

export type EffectOf<K extends Effect["kind"]> = Extract<Effect, { kind: K }>;

/** A task with too many lost attempts. It leaves a dead letter before its run closes. */
export interface PoisonedTask {
  readonly taskId: string;
  readonly epoch: number;
  readonly lost: number;
  readonly message: string;
}

/** Identifies an effect, so that one process does not start it twice at the same time. */
export function effectKey(runId: string, { kind, taskId, epoch }: Effect): string {
  return `${runId} ${kind} ${taskId ?? "-"} ${epoch}`;
}

export function outstanding(run: RunSnapshot): Effect[] {
  const { context } = run;
  const { tasks, integration } = context;
  switch (run.value) {
    case "working":
    case "waiting_input":
      return [
        ...(isPaused(context.facts) ? [] : dispatches(context)), // run/R4
        ...landings(tasks),
        ...verifications(tasks),
      ];
    case "failing":
      return [...landings(tasks), ...verifications(tasks)];
    case "canceling":
      return [...landings(tasks), ...integrationLanding(integration)]; // run/R4
    case "integrating":
      return integration.kind === "open"
        ? [{ kind: "verify-integration", taskId: null, epoch: integration.epoch }]
        : integrationLanding(integration);
    case "settled":
      return [{ kind: "close", taskId: null, epoch: 0, poisoned: tasks.flatMap(poisoned) }];
    default:
      return [];
  }
}

function poisoned({ phase, planned, lapses }: TaskState): PoisonedTask[] {
  if (phase.kind !== "failed" || phase.code !== "ANT_TASK_POISON") return [];
  return [{ taskId: planned.task.task_id, epoch: phase.epoch, lost: lapses, message: phase.message }];
}

function dispatches(run: RunState): Effect[] {
  return run.tasks
    .filter((task) => isReady(task, run)) // run/R5
    .map((task) => ({ kind: "dispatch", ...placeOf(task) }));
}

function landings(tasks: readonly TaskState[]): Effect[] {
  return tasks.flatMap((task): Effect[] =>
    task.phase.kind === "accepted" ? [{ kind: "land", ...placeOf(task), phase: task.phase }] : [],
  );
}

/** A skill's result is verified at once, because it moves no branch. */
function verifications(tasks: readonly TaskState[]): Effect[] {
  const isHeldUp = tasks.some(({ phase }) => phase.kind === "accepted" || phase.kind === "awaiting"); // run/R5
  const proposed = tasks
    .flatMap((task) => (task.phase.kind === "proposed" ? [{ task, phase: task.phase }] : []))
    .sort((a, b) => a.phase.seq - b.phase.seq);
  const judging = proposed.filter(({ task }) => task.planned.gate !== undefined);
  const changes = proposed.filter(({ task }) => task.planned.gate === undefined);
  return [...judging, ...(isHeldUp ? [] : changes.slice(0, 1))].map(({ task, phase }) => ({
    kind: "verify",
    ...placeOf(task),
    phase,
  }));
}

function integrationLanding(integration: Integration): Effect[] {
  return integration.kind === "accepted"
    ? [{ kind: "land-integration", taskId: null, epoch: integration.epoch, integration }]
    : [];
}

function placeOf(task: TaskState): OfTask {
  return { taskId: task.planned.task.task_id, epoch: task.phase.epoch, task };
}
