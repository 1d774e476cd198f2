/**
 * What a run still owes the world, read off its state. Level-triggered: asked twice it answers the same,
 * so a redelivery, a sweep and a second Director all end in the same single-assignment records.
 *
 * Invariants:
 *   D6 At most one task of a run is between its clean room and its landing, so what was verified is what
 *      lands (L3); proposals queue in stream order.
 *   D7 Only a task whose dependencies are all done is dispatched, from the run's current head.
 */
import type { RunSnapshot } from "../machine/run-machine.ts";
import { isPaused, isReady, type Integration, type TaskPhase, type TaskState } from "../state/run-state.ts";

type Phase<K extends TaskPhase["kind"]> = Extract<TaskPhase, { kind: K }>;

export type Effect =
  | { kind: "dispatch"; taskId: string; epoch: number; task: TaskState }
  | { kind: "verify"; taskId: string; epoch: number; task: TaskState; phase: Phase<"proposed"> }
  | { kind: "land"; taskId: string; epoch: number; task: TaskState; phase: Phase<"accepted"> }
  | { kind: "verify-integration"; epoch: number }
  | { kind: "land-integration"; epoch: number; integration: Extract<Integration, { kind: "accepted" }> }
  | { kind: "close"; poisoned: readonly PoisonedTask[] };

/** A task that ended too many processes: it leaves a dead letter before its run closes (J7). */
export interface PoisonedTask {
  readonly taskId: string;
  readonly epoch: number;
  readonly lost: number;
  readonly message: string;
}

/** Names an effect, so that one process does not start it twice at the same time. */
export function effectKey(runId: string, effect: Effect): string {
  return "taskId" in effect
    ? `${runId} ${effect.kind} ${effect.taskId} ${effect.epoch}`
    : `${runId} ${effect.kind} ${"epoch" in effect ? effect.epoch : 0}`;
}

export function outstanding(run: RunSnapshot): Effect[] {
  const { tasks, integration } = run.context;
  switch (run.value) {
    case "working":
    case "waiting_input":
      return [
        ...(isPaused(run.context) ? [] : dispatches(tasks)), // D11
        ...landings(tasks),
        ...verifications(tasks),
      ];
    case "failing":
      return [...landings(tasks), ...verifications(tasks)];
    case "canceling":
      return [...landings(tasks), ...integrationLanding(integration)]; // D5
    case "integrating":
      return integration.kind === "open"
        ? [{ kind: "verify-integration", epoch: integration.epoch }]
        : integrationLanding(integration);
    case "settled":
      return [{ kind: "close", poisoned: tasks.flatMap(poisoned) }];
    default:
      return [];
  }
}

function poisoned({ phase, planned, lapses }: TaskState): PoisonedTask[] {
  if (phase.kind !== "failed" || phase.code !== "ANT_TASK_POISON") return [];
  return [{ taskId: planned.task.task_id, epoch: phase.epoch, lost: lapses, message: phase.message }];
}

function dispatches(tasks: readonly TaskState[]): Effect[] {
  return tasks
    .filter((task) => isReady(task, tasks)) // D7
    .map((task) => ({
      kind: "dispatch",
      taskId: task.planned.task.task_id,
      epoch: task.phase.epoch,
      task,
    }));
}

function landings(tasks: readonly TaskState[]): Effect[] {
  return tasks.flatMap((task): Effect[] =>
    task.phase.kind === "accepted"
      ? [
          {
            kind: "land",
            taskId: task.planned.task.task_id,
            epoch: task.phase.epoch,
            task,
            phase: task.phase,
          },
        ]
      : [],
  );
}

function verifications(tasks: readonly TaskState[]): Effect[] {
  if (tasks.some(({ phase }) => phase.kind === "accepted" || phase.kind === "awaiting")) return []; // D6
  const first = tasks
    .flatMap((task) => (task.phase.kind === "proposed" ? [{ task, phase: task.phase }] : []))
    .sort((a, b) => a.phase.seq - b.phase.seq)[0];
  if (first === undefined) return [];
  const { task, phase } = first;
  return [{ kind: "verify", taskId: task.planned.task.task_id, epoch: phase.epoch, task, phase }];
}

function integrationLanding(integration: Integration): Effect[] {
  return integration.kind === "accepted"
    ? [{ kind: "land-integration", epoch: integration.epoch, integration }]
    : [];
}
