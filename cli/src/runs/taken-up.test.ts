import type { Intent, IntentBody } from "@antiphon/contracts";
import { runOptions } from "@antiphon/contracts/testing/records";
import { describe, expect, test } from "vitest";
import { takenUp } from "./taken-up.ts";

const repo = { name: "app", path: "/repo" };
const other = { name: "here", path: "/here" };
const BASE = "b".repeat(40);
const agent = { kind: "scripted", patch: { files: [] } };

const body = (intent: Partial<IntentBody["intent"]> = {}): IntentBody => ({
  ...{ intentId: "it_0", principal: "ann", base: { repo, ref: "refs/heads/main", commit: BASE } },
  intent: {
    goal: "do it",
    inputs: { repo, agent: { kind: "pack" }, grants: ["a"], land_on: "main", scope: ["src/**"], race: "r" },
    constraints: { approvals: { needed: 2 }, allow_unproven: true, model_budget: { tokens: 9 } },
    ...intent,
  },
  options: runOptions({ repo, checks: ["make"], model_budget: { tokens: 9 } }),
});

const given = (inputs: object = {}, constraints: object = {}): Intent =>
  ({ goal: "do it", inputs: { repo: other, agent, ...inputs }, constraints }) as unknown as Intent;

const taken = (said: Intent, hasRepo = false): Intent =>
  takenUp({ runId: "run_1", body: body(), tasks: 1 }, said, hasRepo);

describe("a run that takes the change of another one", () => {
  test("has its goal, commit, checks, branch, approvals and scope, and neither its agent, its models nor its race", () => {
    const { goal, inputs, constraints } = taken(given());
    expect(goal).toBe("do it");
    expect(inputs).toMatchObject({ repo, base_ref: BASE, agent, checks: ["make"], scope: ["src/**"] });
    expect(inputs).toMatchObject({ grants: ["a"], land_on: "main" });
    expect(inputs).not.toHaveProperty("race");
    expect(constraints).toMatchObject({ approvals: { needed: 2 }, allow_unproven: true });
    expect(constraints).not.toHaveProperty("model_budget");
    expect(constraints).not.toHaveProperty("egress");
  });

  test("adds grants to those of that run, and takes any other option as it is said now", () => {
    const said = given(
      { grants: ["b"], checks: ["npm test"], base_ref: "next" },
      { approvals: { needed: 1 } },
    );
    const { inputs, constraints } = taken(said, true);
    expect(inputs).toMatchObject({ grants: ["a", "b"], checks: ["npm test"], base_ref: "next", repo: other });
    expect(constraints).toMatchObject({ approvals: { needed: 1 } });
  });

  test("is refused for a run of several tasks, because their changes are not one", () => {
    expect(() => takenUp({ runId: "run_1", body: body(), tasks: 2 }, given(), false)).toThrow(
      /several tasks/,
    );
  });
});
