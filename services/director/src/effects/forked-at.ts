/**
 * What a task has from the run that it is forked from. All its attempts are told the feedback of that time. The first one begins
 * that attempt again, with the recorded answers; it stays the first until it is rejected or has asked. Pure.
 */
import type { Feedback, ForkPoint, RunOptions } from "@antiphon/contracts";
import type { TaskState } from "@antiphon/run";

export interface Forked {
  readonly told: readonly Feedback[];
  /** Null: the attempt goes on live. */
  readonly point: ForkPoint | null;
}

const NOT_FORKED: Forked = { told: [], point: null };

export function forkedAt(
  { planned, rejections, answers }: Pick<TaskState, "planned" | "rejections" | "answers">,
  { fork }: Pick<RunOptions, "fork">,
): Forked {
  if (fork === undefined || fork.task !== planned.task.task_id) return NOT_FORKED;
  const { feedback: told, inherited: _budgets, ...point } = fork;
  return { told, point: rejections === 0 && answers.length === 0 ? point : null };
}
