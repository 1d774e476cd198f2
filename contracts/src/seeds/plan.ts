/** Plan v0 (seed 002, RFC 000): a graph of typed nodes. */
import { Type, type Static } from "typebox";
import { anyObject, closed, oneOf } from "../shapes/shape.ts";

export const PlanNode = closed({
  id: Type.String({ description: "Unique within the plan." }),
  kind: oneOf(["compute", "decision", "io", "approval"], { description: "What the node does." }),
  deps: Type.Array(Type.String(), { description: "Ids of the nodes that must be done first." }),
  budget: Type.Optional(anyObject({ description: "Budget of the node." })),
});
export type PlanNode = Static<typeof PlanNode>;

export const Plan = closed(
  { nodes: Type.Array(PlanNode) },
  { description: "A graph of typed nodes (seed 002)." },
);
export type Plan = Static<typeof Plan>;
