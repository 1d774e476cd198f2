/**
 * The change that a skill has before it: a verified change of a task, or, after the target branch has moved, the same change as it
 * stands there. Pure.
 */
import type { PlannedGate } from "@antiphon/contracts";
import type { Given, RunState, TaskState } from "./run-state.ts";

export interface JudgedChange extends Given {
  readonly task: TaskState;
  /** The commit before the change. */
  readonly head: string;
  readonly commit: string;
  readonly tree: string;
  readonly at: Date;
}

/** Null: no verified change waits for the skill. */
export function changeFor(
  { tasks, integration }: Pick<RunState, "tasks" | "integration">,
  gateTask: string,
  { of }: PlannedGate,
): JudgedChange | null {
  const task = tasks.find(({ planned }) => planned.task.task_id === of);
  if (task === undefined) return null;
  const attempt = task.phase.epoch;
  if (integration.kind === "judging") {
    const { verdict, gates, at, epoch } = integration;
    const change = verdict.replayed?.find((one) => one.task === of);
    if (change?.gates.includes(gateTask) !== true || !gates.includes(gateTask)) return null;
    const { head, commit, tree } = change;
    return { task, head, commit, tree, at, attempt, integration: epoch };
  }
  if (task.phase.kind !== "awaiting") return null;
  const { verdict, at } = task.phase;
  const { head, commit, tree } = verdict;
  return commit === null || tree === null
    ? null
    : { task, head, commit, tree, at, attempt, integration: null };
}

/** The change that the skill was given, if it still waits for it; null: what the skill says about it counts for nothing (run/R10). */
export function judgedChange(
  run: Pick<RunState, "tasks" | "integration">,
  { planned, judges }: Pick<TaskState, "planned" | "judges">,
): JudgedChange | null {
  if (planned.gate === undefined || judges === undefined) return null;
  const now = changeFor(run, planned.task.task_id, planned.gate);
  return now?.attempt === judges.attempt && now.integration === judges.integration ? now : null;
}
