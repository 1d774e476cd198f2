// The plan in an intent's `inputs.plan`, as the tasks of a run. Pure.
import { AntiphonError, globFault, readPlan } from "@antiphon/contracts";
import type { Intent, TaskGraph, TaskSpec } from "@antiphon/contracts";

const PLACE = "/inputs/plan";

/**
 * Null: the intent holds no plan.
 * @throws AntiphonError ANT_PLAN_INVALID with the place of the first fault
 */
export function givenPlan({ inputs }: Intent): TaskGraph | null {
  if (inputs.plan === undefined) return null;
  if (inputs.tasks !== undefined) throw invalid(PLACE, `${PLACE}: give a plan or tasks, not both`);
  const read = readPlan(inputs.plan);
  if (!read.ok) {
    const { path, message, expected, found, hint } = read.problem;
    // A list, or one task, is read as `{tasks: [...]}`.
    const inside = Array.isArray(inputs.plan) ? path.replace(/^\/tasks/, "") : path;
    const meant = hint === undefined ? "" : `; ${hint}`;
    const at = `${PLACE}${inside}`;
    throw invalid(at, `${at}: ${message}; expected ${expected}, found ${found}${meant}`);
  }
  return read.plan;
}

/** @throws AntiphonError ANT_INTENT_OPTIONS: a glob of a task would take too long to match */
export function checkTaskGlobs(tasks: readonly TaskSpec[]): void {
  for (const [i, task] of tasks.entries())
    for (const key of ["allowed_files", "disallowed_files"] as const) {
      const fault = globFault(task[key] ?? []);
      if (fault === null) continue;
      const path = `/inputs/tasks/${i}/${key}`;
      throw new AntiphonError("ANT_INTENT_OPTIONS", `${path}: ${fault}`, { data: { path } });
    }
}

function invalid(path: string, message: string): AntiphonError {
  return new AntiphonError("ANT_PLAN_INVALID", message, { data: { path } });
}
