/** The router contract (seed 003): the state of a run, in its initial and its final form. */
import { Type, type Static } from "typebox";
import { closed, oneOf } from "../shapes/shape.ts";

export const RouterStatus = oneOf(["IN_PROGRESS", "COMPLETE", "BLOCKED", "NEEDS_REVIEW"]);
export type RouterStatus = Static<typeof RouterStatus>;

export const Workflow = oneOf(["BUILD", "DEBUG", "REVIEW", "PLAN"], {
  description: "The selected workflow.",
});
export type Workflow = Static<typeof Workflow>;

export const RouterTask = closed({
  id: Type.Integer({ minimum: 1, description: "Unique in the contract." }),
  description: Type.String({ minLength: 1 }),
  status: oneOf(["PENDING", "IN_PROGRESS", "COMPLETE", "BLOCKED"]),
  dependencies: Type.Array(Type.Integer({ minimum: 1 }), { description: "Task ids this task depends on." }),
});
export type RouterTask = Static<typeof RouterTask>;

export const RouterContractInitial = closed(
  {
    status: RouterStatus,
    workflow: Workflow,
    intent: Type.String({ minLength: 1, description: "The original user request, word for word." }),
    tasks: Type.Array(RouterTask),
    memory_notes: Type.String({ description: "Notes to add to memory, if any." }),
    next_action: Type.String({ description: "What the agent should do next." }),
  },
  { description: "The contract as the Router opens it (seed 003)." },
);
export type RouterContractInitial = Static<typeof RouterContractInitial>;

export const RouterEvidence = closed({
  type: oneOf(["test", "review", "verification"]),
  result: oneOf(["PASS", "FAIL"]),
  details: Type.String(),
});
export type RouterEvidence = Static<typeof RouterEvidence>;

export const RouterContractFinal = closed(
  {
    status: oneOf(["COMPLETE", "BLOCKED", "NEEDS_REVIEW"]),
    workflow: Workflow,
    tasks_completed: Type.Integer({ minimum: 0 }),
    tasks_total: Type.Integer({ minimum: 0 }),
    evidence: Type.Array(RouterEvidence, { description: "At least one item if the status is COMPLETE." }),
    next_action: Type.String({ description: 'What to do next, or "none" if done.' }),
  },
  { description: "The contract as it is closed (seed 003)." },
);
export type RouterContractFinal = Static<typeof RouterContractFinal>;

export const RouterContract = closed(
  { router_contract: Type.Union([RouterContractInitial, RouterContractFinal]) },
  { description: "The document kept under `<runId>.router` in KV `ANT_CONTRACTS` (seed 003)." },
);
export type RouterContract = Static<typeof RouterContract>;
