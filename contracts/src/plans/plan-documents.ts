/** A plan in the words of the seeds: TaskPlan (seed 004) and Plan.v0 (seed 002). Pure. */
import type { Plan } from "../seeds/plan.ts";
import type { TaskPlan } from "../seeds/v13-plan.ts";
import type { TaskGraph } from "./read-plan.ts";

const NODE_OF_KIND = { edit_repo: "compute", run: "io", inspect: "decision" } as const;

export function planDocuments({ tasks }: TaskGraph): { taskPlan: TaskPlan; plan: Plan } {
  const idOf = (id: number): string => `T-${String(id).padStart(3, "0")}`;
  return {
    taskPlan: {
      nodes: tasks.map(({ id, description, dependencies }) => ({
        id: idOf(id),
        title: description,
        dependsOn: dependencies.map(idOf),
        tags: [],
      })),
    },
    plan: {
      nodes: tasks.map(({ id, dependencies, kind = "edit_repo" }) => ({
        id: idOf(id),
        kind: NODE_OF_KIND[kind],
        deps: dependencies.map(idOf),
      })),
    },
  };
}
