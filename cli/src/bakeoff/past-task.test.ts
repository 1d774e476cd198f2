import type { IntentBody } from "@antiphon/contracts";
import { runOptions } from "@antiphon/contracts/testing/records";
import { expect, test } from "vitest";
import { pastTask } from "./past-task.ts";

const AGENT = { kind: "command" as const, argv: ["b"] };
const COMMIT = "c".repeat(40);
const repo = { name: "app", path: "/srv/app" };

function body(more: Partial<IntentBody["intent"]> = {}, options: object = {}): IntentBody {
  return {
    ...{ intentId: "it_1", principal: "ann", base: { repo, ref: "refs/heads/main", commit: COMMIT } },
    intent: {
      goal: "Fix it",
      inputs: {
        repo: "/srv/app",
        checks: ["npm test"],
        land_on: "main",
        race: "race_x",
        agent: { kind: "a" },
      },
      constraints: { max_attempts: 2, approvals: { needed: 1 } },
      ...more,
    },
    options: runOptions({ repo, ...options }),
  };
}

test("has the goal, checks and commit of the past run, and the other agent; nothing moves a branch of people", () => {
  expect(pastTask(body(), AGENT, null)).toEqual({
    goal: "Fix it",
    inputs: { repo, base_ref: COMMIT, agent: AGENT, checks: ["npm test"] },
    constraints: { max_attempts: 2, allow_dirty: true },
  });
});

test("has the tasks of the past run without their agents, and its model budget or the one that is given", () => {
  const tasks = [{ id: 1, description: "a", dependencies: [], agent: AGENT, approvals: { needed: 1 } }];
  const past = body({}, { tasks, model_budget: { tokens: 5 } });
  const again = pastTask(past, AGENT, null);
  expect(again?.inputs["tasks"]).toEqual([{ id: 1, description: "a", dependencies: [] }]);
  expect(again?.constraints).toMatchObject({ model_budget: { tokens: 5 }, egress: { mode: "allowlist" } });
  expect(pastTask(past, AGENT, 7)?.constraints["model_budget"]).toEqual({ usd_micro: 7 });
});

test("is none for a run that read connectors", () => {
  expect(pastTask(body({ connectors: ["work-items"] }), AGENT, null)).toBeNull();
});
