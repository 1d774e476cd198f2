import type { RunRecord } from "@antiphon/client";
import type { Fork, IntentBody } from "@antiphon/contracts";
import { MATERIAL } from "@antiphon/contracts/runs/connectors";
import { runOptions } from "@antiphon/contracts/testing/records";
import { describe, expect, test } from "vitest";
import { forkIntent } from "./fork-intent.ts";
import { forkedAt } from "./fork-point.ts";

const [T1, T2] = ["T-001", "T-002"];
const RED = { verdict: "FAIL" as const, code: "ANT_VERIFY_CHECK_FAILED", message: "red", checks: [] };
const agent = { kind: "command" as const, argv: ["a"] };
const TASKS = [
  { id: 1, description: "first", dependencies: [] },
  { id: 2, description: "second", dependencies: [1], agent },
];

const BASE = "b".repeat(40);
const LANDED = "c".repeat(40);
const repo = { name: "app", path: "/repo" };

const INTENT = {
  ...{ intentId: "it_0", principal: "ann", base: { repo, ref: "refs/heads/main", commit: BASE } },
  intent: { goal: "do it", inputs: { land_on: "main" }, constraints: {} },
  options: runOptions({ repo, tasks: TASKS, model_budget: { tokens: 9 } }),
} as IntentBody;

/** T-001 lands after a rejection, then T-002 is rejected. */
const RECORDS = [
  ["intent", null, 0, INTENT],
  ["dispatch", T1, 1, { feedback: [], base: { commit: BASE }, agent: { kind: "scripted" } }],
  ["result", T1, 1, { kind: "reported" }],
  ["verdict", T1, 1, RED],
  ["dispatch", T1, 2, { feedback: [], base: { commit: BASE }, agent: { kind: "scripted" } }],
  ["result", T1, 2, { kind: "reported" }],
  ["verdict", T1, 2, { verdict: "PASS", commit: LANDED }],
  ["landing", T1, 2, { kind: "landed", commit: LANDED }],
  ["dispatch", T2, 1, { feedback: [], base: { commit: LANDED }, agent }],
  ["result", T2, 1, { kind: "reported" }],
  ["verdict", T2, 1, RED],
].map(([type, taskId, epoch, body], i) => ({
  type,
  taskId,
  epoch,
  body,
  seq: i + 1,
})) as unknown as RunRecord[];

const seqOf = (type: string, task: string, epoch = 1): string =>
  String(RECORDS.find((one) => one.type === type && one.taskId === task && one.epoch === epoch)?.seq ?? "");
const NOTHING = { feedback: null, agent: null, modelUsdMicro: null };
const at = (event: string) => forkedAt("run_a", RECORDS, event);

describe("the event that --at names", () => {
  test("is the begin of an attempt, or one of its model calls", () => {
    expect(at("T-001:2")).toMatchObject({ fork: { task: T1, epoch: 2, calls: 0 }, base: BASE, done: [] });
    expect(at("T-001:1/3")).toMatchObject({ fork: { task: T1, epoch: 1, calls: 3 } });
  });

  test("is a record: of a dispatch its attempt, of a result all its model calls, of a verdict the attempt after it", () => {
    expect(at(seqOf("dispatch", T2))).toMatchObject({
      ...{ fork: { task: T2, epoch: 1, calls: 0 }, base: LANDED, agent, done: [T1] },
    });
    expect(at(seqOf("result", T1))).toMatchObject({ fork: { task: T1, epoch: 1, calls: 10_000 } });
    expect(at(seqOf("verdict", T2)).fork).toEqual({
      ...{ run: "run_a", task: T2, epoch: 2, calls: 0 },
      feedback: [{ epoch: 1, code: "ANT_VERIFY_CHECK_FAILED", message: "red", checks: [] }],
    });
  });

  test.each(["T-001:7", "T-009:1", "999", "1", "soon", "T-001:2/x"])("is not %s", (event) => {
    expect(() => at(event)).toThrow("--at takes an attempt");
  });
});

describe("the intent of a fork", () => {
  test("has the commit of the event and the tasks that were left, and lands on no branch of people", () => {
    const intent = forkIntent(INTENT, at("T-002:1"), NOTHING);
    expect(intent.inputs).toMatchObject({
      ...{ base_ref: LANDED, agent },
      tasks: [{ id: 2, description: "second", dependencies: [], agent }],
      fork: { run: "run_a", task: T2, epoch: 1, calls: 0, feedback: [] },
    });
    expect(intent.inputs["land_on"]).toBeUndefined();
    expect(intent.constraints).toMatchObject({ model_budget: { tokens: 9 } });
  });

  test("tells the attempt what a person says, and gives its task to another agent", () => {
    const other = { kind: "command" as const, argv: ["b"] };
    const changed = { feedback: "Keep the format", agent: other, modelUsdMicro: 5 };
    const { inputs, constraints } = forkIntent(INTENT, at("T-002:1"), changed);
    expect(inputs["agent"]).toEqual(other);
    expect(inputs["tasks"]).toEqual([{ id: 2, description: "second", dependencies: [] }]);
    expect(inputs["fork"]).toMatchObject({
      feedback: [{ code: "ANT_TASK_CHANGES_ASKED", message: "Keep the format" }],
    });
    expect(constraints["model_budget"]).toEqual({ usd_micro: 5 });
    expect(() => forkIntent(INTENT, at("T-001:1/2"), changed)).toThrow("the recorded answers");
  });

  test("says which budgets are those of the forked run, and which its caller named", () => {
    const constraints = { max_attempts: 7, run_time_budget_s: 60, land: true };
    const body = { ...INTENT, intent: { ...INTENT.intent, constraints } } as IntentBody;
    const inheritedOf = (changed: object) =>
      (forkIntent(body, at("T-002:1"), { ...NOTHING, ...changed }).inputs["fork"] as Fork).inherited;
    expect(inheritedOf({})).toEqual(["max_attempts", "run_time_budget_s", "model_budget"]);
    expect(inheritedOf({ modelUsdMicro: 5 })).toEqual(["max_attempts", "run_time_budget_s"]);
  });

  test("asks nobody again: what was answered by then is its check, or the option that the answer stood for", () => {
    const [ask, shared] = [
      { question: "Which?", tasks: [T2] },
      { question: "All?", tasks: [T1, T2] },
    ];
    const answered = (asks: object[], answers: string[], more: object = {}) => {
      const records = [
        ...RECORDS,
        { type: "verdict", taskId: T2, epoch: 2, body: { verdict: "UNVERIFIABLE", asks } },
        { type: "input", taskId: T2, epoch: 2, body: { event: "answer", answers, ...more } },
        { type: "dispatch", taskId: T2, epoch: 3, body: { feedback: [], base: { commit: LANDED }, agent } },
        { type: "verdict", taskId: T2, epoch: 4, body: { verdict: "UNVERIFIABLE", asks } },
        { type: "input", taskId: T2, epoch: 4, body: { event: "answer", answers: ["too late"] } },
      ].map((one, i) => ({ ...one, seq: i + 1 })) as unknown as RunRecord[];
      return forkIntent(INTENT, forkedAt("run_a", records, "T-002:3"), NOTHING);
    };
    expect(answered([ask], ["make test"]).inputs["tasks"]).toMatchObject([{ id: 2, checks: ["make test"] }]);
    const both = answered([ask, shared], ["unverified", "make all"]);
    expect(both.constraints).toMatchObject({ allow_unverified: true });
    expect(both.inputs["tasks"]).toMatchObject([{ id: 2, checks: ["make all"] }]);
    const turnedDown = answered([ask], ["no"], { event: "approval", choice: "reject" });
    expect(turnedDown.constraints).not.toHaveProperty("allow_unverified");
    expect(turnedDown.inputs["tasks"]).toEqual([{ id: 2, description: "second", dependencies: [], agent }]);
  });

  test("is refused for a brief, which had no repository", () => {
    const brief = { ...INTENT, base: { ...INTENT.base, repo: MATERIAL } };
    expect(() => forkIntent(brief, at("T-001:1"), NOTHING)).toThrow("the run is a brief");
  });
});
