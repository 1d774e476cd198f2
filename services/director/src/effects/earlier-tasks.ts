/**
 * Finds the earlier tasks of a task: the one whose commit a git task goes back to, and those that an attempt is told about. It
 * reads the records alone, so every Director tells the same. Pure.
 */
import { AntiphonError, goesBack, type EarlierTask, type PlannedTask } from "@antiphon/contracts";
import type { RunState, TaskState } from "@antiphon/run";

/** Those that a dispatch has room for; the nearest ones matter most. */
const MOST = 32;

/** All finished tasks that it depends on, directly or not, in the order of the plan. A skill that judges is told of none. */
export function earlierTasks({ planned }: Pick<TaskState, "planned">, { tasks }: RunState): EarlierTask[] {
  if (planned.gate !== undefined) return [];
  const on = dependenciesOf(planned, tasks);
  return tasks
    .flatMap(({ planned: { task }, phase }) =>
      on.has(task.task_id) && phase.kind === "done"
        ? [{ task: task.task_id, epoch: phase.epoch, kind: task.kind, commit: phase.left }]
        : [],
    )
    .slice(-MOST);
}

function dependenciesOf({ deps }: PlannedTask, tasks: readonly TaskState[]): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [...deps];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    open.push(...(tasks.find(({ planned }) => planned.task.task_id === id)?.planned.deps ?? []));
  }
  return found;
}

/** The commit whose files a git task brings back; `base`: the one that the run started from. */
export function commitBehind({ task }: PlannedTask, { tasks }: RunState, base: string): string {
  if (!goesBack(task)) return base;
  const named = tasks.find(({ planned }) => planned.task.task_id === task.base_ref);
  if (named === undefined) return base;
  if (named.phase.kind === "done") return named.phase.left;
  throw new AntiphonError(
    "ANT_JOURNAL_GAP",
    `${task.task_id} goes back to ${task.base_ref}, which is not done`,
  );
}
