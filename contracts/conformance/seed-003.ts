/** Seed 003: Router Contract Format. */
import assert from "node:assert/strict";
import { checkRouterContract } from "@antiphon/contracts";
import { accepts, golden, hasEnum, hasFields, refuses, seedYaml } from "./proof.ts";
import { statements } from "./statement.ts";

const STATUS = ["IN_PROGRESS", "COMPLETE", "BLOCKED", "NEEDS_REVIEW"];
const WORKFLOW = ["BUILD", "DEBUG", "REVIEW", "PLAN"];
const initial = () => golden("RouterContractInitial.v0", "seed initial");
const final = () => golden("RouterContractFinal.v0", "seed complete");

export const seed003 = statements("003", {
  Structure: [
    {
      says: "the document wraps the contract in router_contract",
      proof: () => {
        accepts("RouterContract", { router_contract: initial() });
        refuses("RouterContract", initial(), "/router_contract");
      },
    },
    {
      says: "status is IN_PROGRESS | COMPLETE | BLOCKED | NEEDS_REVIEW",
      proof: () => hasEnum("RouterContractInitial", "status", STATUS),
    },
    {
      says: "workflow is BUILD | DEBUG | REVIEW | PLAN",
      proof: () => hasEnum("RouterContractInitial", "workflow", WORKFLOW),
    },
    {
      says: "the first form has status, workflow, intent, tasks, memory_notes, next_action",
      proof: () =>
        hasFields("RouterContractInitial", [
          "status",
          "workflow",
          "intent",
          "tasks",
          "memory_notes",
          "next_action",
        ]),
    },
    {
      says: "a task has id, description, status, dependencies",
      proof: () =>
        hasFields("RouterContractInitial", ["id", "description", "status", "dependencies"], "tasks[]"),
    },
    {
      says: "a task's status is PENDING | IN_PROGRESS | COMPLETE | BLOCKED",
      proof: () =>
        hasEnum("RouterContractInitial", "tasks[].status", ["PENDING", "IN_PROGRESS", "COMPLETE", "BLOCKED"]),
    },
    {
      says: "task ids are integers, dependencies lists of them",
      proof: () => {
        const [task] = initial().tasks as object[];
        refuses("RouterContractInitial", { ...initial(), tasks: [{ ...task, id: "1" }] }, "/tasks/0/id");
        refuses(
          "RouterContractInitial",
          { ...initial(), tasks: [{ ...task, dependencies: ["2"] }] },
          "/tasks/0/dependencies/0",
        );
      },
    },
  ],
  "Initial contract": [
    {
      says: "the Router opens the contract so, with the request word for word",
      file: "services/router/src/planning/route.test.ts",
      title: "the router contract opens with the request, word for word",
    },
    {
      says: "the initial contract (filled in) validates: IN_PROGRESS, PENDING tasks, empty notes",
      proof: () => accepts("RouterContract", seedYaml("003-initial-filled.yaml")),
    },
  ],
  "Agent output contract": [
    {
      says: "the final form has status, workflow, tasks_completed, tasks_total, evidence, next_action",
      proof: () =>
        hasFields("RouterContractFinal", [
          "status",
          "workflow",
          "tasks_completed",
          "tasks_total",
          "evidence",
          "next_action",
        ]),
    },
    {
      says: "its status is COMPLETE | BLOCKED | NEEDS_REVIEW",
      proof: () => hasEnum("RouterContractFinal", "status", ["COMPLETE", "BLOCKED", "NEEDS_REVIEW"]),
    },
    {
      says: "evidence has type, result, details",
      proof: () => hasFields("RouterContractFinal", ["type", "result", "details"], "evidence[]"),
    },
    {
      says: "evidence type is test | review | verification",
      proof: () => hasEnum("RouterContractFinal", "evidence[].type", ["test", "review", "verification"]),
    },
    {
      says: "evidence result is PASS | FAIL",
      proof: () => hasEnum("RouterContractFinal", "evidence[].result", ["PASS", "FAIL"]),
    },
  ],
  "Validation rules": [
    {
      says: "status must be one of the four",
      proof: () => refuses("RouterContractInitial", { ...initial(), status: "DONE" }, "/status"),
    },
    {
      says: "workflow must match the selected workflow",
      proof: () => {
        const chosen = { workflow: "BUILD", intent: initial().intent as string };
        assert.equal(checkRouterContract({ router_contract: initial() }, chosen), null);
        assert.equal(checkRouterContract(final(), { ...chosen, workflow: "PLAN" })?.path, "/workflow");
      },
    },
    {
      says: "tasks must be a list of task objects",
      proof: () => {
        refuses("RouterContractInitial", { ...initial(), tasks: {} }, "/tasks");
        refuses("RouterContractInitial", { ...initial(), tasks: ["task 1"] }, "/tasks/0");
      },
    },
    {
      says: "evidence must contain at least one item if status is COMPLETE",
      proof: () => {
        refuses(
          "RouterContractFinal",
          { ...final(), evidence: [] },
          "/evidence",
          "router-contract/complete-needs-evidence",
        );
        accepts("RouterContractFinal", { ...final(), status: "BLOCKED", evidence: [] });
      },
    },
    {
      says: "intent must be the original user request",
      proof: () => {
        const chosen = { workflow: "BUILD", intent: "Something else" };
        assert.equal(checkRouterContract({ router_contract: initial() }, chosen)?.path, "/intent");
      },
    },
    {
      says: "task dependencies are tasks of the contract, without a cycle",
      proof: () => {
        const task = (id: number, dependencies: number[]) => ({
          id,
          description: "x",
          status: "PENDING",
          dependencies,
        });
        const cyclic = { ...initial(), tasks: [task(1, [2]), task(2, [1])] };
        refuses("RouterContractInitial", cyclic, "/tasks", "router-contract/acyclic");
        refuses("RouterContractInitial", { ...initial(), tasks: [task(1, [7])] }, "/tasks/0/dependencies/0");
      },
    },
  ],
  Examples: [
    {
      says: "the complete BUILD example validates as written",
      proof: () => accepts("RouterContract", seedYaml("003-complete-build.yaml")),
    },
    {
      says: "the blocked DEBUG example validates as written",
      proof: () => accepts("RouterContract", seedYaml("003-blocked-debug.yaml")),
    },
  ],
});
