/** Rules of seed 003: the router contract, in both forms and as the document that wraps them. */
import type { Problem } from "../validation/problem.ts";
import type { RouterContractFinal, RouterContractInitial } from "../seeds/router-contract.ts";
import { graphRules } from "./graph.ts";
import { isRecord, member, within, type Rule } from "../shapes/rule.ts";

type Tasks = RouterContractInitial["tasks"];

const tasksOf = (value: unknown): Tasks => (member(value, "tasks") as Tasks | undefined) ?? [];

const completeNeedsEvidence: Rule = {
  id: "router-contract/complete-needs-evidence",
  says: "`evidence` holds at least one item if the status is COMPLETE.",
  check: (value) => {
    if (member(value, "status") !== "COMPLETE") return null;
    const evidence = member(value, "evidence");
    if (Array.isArray(evidence) && evidence.length > 0) return null;
    const found = Array.isArray(evidence) ? "a list of 0" : "nothing";
    return { path: "/evidence", message: "COMPLETE needs evidence", expected: "at least one item", found };
  },
};

export const initialRules: readonly Rule[] = [
  completeNeedsEvidence,
  ...graphRules({
    name: "router-contract",
    path: "/tasks",
    idKey: "id",
    depsKey: "dependencies",
    nodes: (value) =>
      tasksOf(value).map(({ id, dependencies }) => ({ id: String(id), deps: dependencies.map(String) })),
  }),
];

export const finalRules: readonly Rule[] = [
  completeNeedsEvidence,
  {
    id: "router-contract/completed-within-total",
    says: "`tasks_completed` is at most `tasks_total`.",
    check: (value) => {
      const { tasks_completed, tasks_total } = value as RouterContractFinal;
      if (tasks_completed <= tasks_total) return null;
      const expected = `at most ${tasks_total}`;
      return {
        path: "/tasks_completed",
        message: "more tasks completed than there are",
        expected,
        found: String(tasks_completed),
      };
    },
  },
];

const inner = (value: unknown): unknown => member(value, "router_contract");
const formOf = (initial: boolean) => (value: unknown) =>
  Object.hasOwn(inner(value) ?? {}, "tasks") === initial ? inner(value) : null;

export const documentRules: readonly Rule[] = [
  ...within("/router_contract", initialRules, formOf(true)),
  ...within("/router_contract", finalRules, formOf(false)),
];

/**
 * Checks a router contract against facts outside the document: the selected workflow and the user's original request
 * (seed 003, validation rules).
 */
export function checkRouterContract(
  contract: unknown,
  chosen: { workflow: string; intent: string },
): Problem | null {
  const body = isRecord(contract) && isRecord(contract.router_contract) ? contract.router_contract : contract;
  const workflow = member(body, "workflow");
  if (workflow !== chosen.workflow) {
    const message = "the workflow is not the selected one";
    return { path: "/workflow", message, expected: chosen.workflow, found: String(workflow) };
  }
  const intent = member(body, "intent");
  if (intent !== undefined && intent !== chosen.intent) {
    const message = "the intent is not the user's request, word for word";
    return {
      path: "/intent",
      message,
      expected: JSON.stringify(chosen.intent),
      found: JSON.stringify(intent),
    };
  }
  return null;
}
