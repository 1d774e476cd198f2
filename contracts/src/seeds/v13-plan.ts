/** Contracts v1.3 (seed 004): the task graph. */
import { Type, type Static } from "typebox";
import { closed } from "../shapes/shape.ts";
import { WorkItemRef } from "./v13-refs.ts";

export const TaskNode = closed({
  id: Type.String({ minLength: 1, description: "Unique in the plan." }),
  title: Type.String(),
  dependsOn: Type.Array(Type.String({ minLength: 1 })),
  workItem: Type.Optional(WorkItemRef),
  agentHint: Type.Optional(Type.String()),
  suggestedBranch: Type.Optional(Type.String()),
  tags: Type.Array(Type.String()),
});
export type TaskNode = Static<typeof TaskNode>;

export const TaskPlan = closed(
  { nodes: Type.Array(TaskNode) },
  { description: "A task graph; a single node is also a plan (seed 004)." },
);
export type TaskPlan = Static<typeof TaskPlan>;
