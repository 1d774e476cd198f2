/** A plan in the words of the seeds: TaskPlan (seed 004) and Plan.v0 (seed 002). Pure. */
import type { Plan } from "../seeds/plan.ts";
import type { TaskPlan } from "../seeds/v13-plan.ts";
import type { TaskGraph } from "./read-plan.ts";
import { taskIdOf } from "./task-number.ts";

/** Plan.v0 has no verbs of git. */
const NODE_OF_KIND = { edit_repo: "compute", run: "io", git: "io", inspect: "decision" } as const;

export function planDocuments({ tasks }: TaskGraph): { taskPlan: TaskPlan; plan: Plan } {
  return {
    taskPlan: {
      nodes: tasks.map(({ id, description, dependencies }) => ({
        id: taskIdOf(id),
        title: description,
        dependsOn: dependencies.map(taskIdOf),
        tags: [],
      })),
    },
    plan: {
      nodes: tasks.map(({ id, dependencies, kind = "edit_repo" }) => ({
        id: taskIdOf(id),
        kind: NODE_OF_KIND[kind],
        deps: dependencies.map(taskIdOf),
      })),
    },
  };
}
