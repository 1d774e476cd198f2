import type { RunRecord } from "@antiphon/client";
import type { IntentBody } from "@antiphon/contracts";
import { RecordLog, BASE, commitOf, planned } from "@antiphon/run/testing/record-log";
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

/** T-001 lands after a rejection, then T-002 is rejected. */
function log(): RecordLog {
  const made = new RecordLog().opened([planned(T1), planned(T2, [T1])], {
    tasks: TASKS,
    model_budget: { tokens: 9 },
  });
  made.dispatched(T1).claimed(T1).reported(T1, 1, "ok").judged(T1, 1, RED);
  made.dispatched(T1, 2).claimed(T1, 2).reported(T1, 2, "ok").judged(T1, 2, {}).landed(T1, 2, commitOf(1));
  const base = { commit: commitOf(1), tree: BASE, object: "o", bytes: 0, files: 0 };
  made.dispatched(T2, 1, { base, agent }).claimed(T2).reported(T2, 1, "ok").judged(T2, 1, RED);
  return made;
}

const recordsOf = (of: RecordLog): RunRecord[] => of.records as unknown as RunRecord[];
const at = (event: string) => forkedAt("run_a", recordsOf(log()), event);
const seqOf = (type: string, task: string, epoch = 1): string =>
  String(
    log().records.find((one) => one.type === type && one.taskId === task && one.epoch === epoch)?.seq ?? "",
  );
const bodyOf = (of: RecordLog): IntentBody => {
  const [first] = of.records;
  if (first?.type !== "intent") throw new Error("no intent");
  return first.body;
};
const NOTHING = { feedback: null, agent: null, modelUsdMicro: null };

describe("the event that --at names", () => {
  test("is the begin of an attempt, or one of its model calls", () => {
    expect(at("T-001:2")).toMatchObject({ fork: { task: T1, epoch: 2, calls: 0 }, base: BASE, done: [] });
    expect(at("T-001:1/3")).toMatchObject({ fork: { task: T1, epoch: 1, calls: 3 } });
  });

  test("is a record: of a dispatch its attempt, of a result all its model calls, of a verdict the attempt after it", () => {
    expect(at(seqOf("dispatch", T2))).toMatchObject({
      ...{ fork: { task: T2, epoch: 1, calls: 0 }, base: commitOf(1), agent, done: [T1] },
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
    const intent = forkIntent(bodyOf(log()), at("T-002:1"), NOTHING);
    expect(intent.inputs).toMatchObject({
      ...{ base_ref: commitOf(1), agent },
      tasks: [{ id: 2, description: "second", dependencies: [], agent }],
      fork: { run: "run_a", task: T2, epoch: 1, calls: 0, feedback: [] },
    });
    expect(intent.inputs["land_on"]).toBeUndefined();
    expect(intent.constraints).toMatchObject({ model_budget: { tokens: 9 } });
  });

  test("tells the attempt what a person says, and gives its task to another agent", () => {
    const other = { kind: "command" as const, argv: ["b"] };
    const changed = { feedback: "Keep the format", agent: other, modelUsdMicro: 5 };
    const { inputs, constraints } = forkIntent(bodyOf(log()), at("T-002:1"), changed);
    expect(inputs["agent"]).toEqual(other);
    expect(inputs["tasks"]).toEqual([{ id: 2, description: "second", dependencies: [] }]);
    expect(inputs["fork"]).toMatchObject({
      feedback: [{ code: "ANT_TASK_CHANGES_ASKED", message: "Keep the format" }],
    });
    expect(constraints["model_budget"]).toEqual({ usd_micro: 5 });
    expect(() => forkIntent(bodyOf(log()), at("T-001:1/2"), changed)).toThrow("the recorded answers");
  });
});
