import type { Gate, PlannedGate, PlannedTask, RunOptions } from "@antiphon/contracts";
import { runOptions } from "@antiphon/contracts/testing/records";
import { planned } from "@antiphon/run/testing/record-log";
import { expect, test } from "vitest";
import { requireGates } from "./gates-planned.ts";

const T1 = planned("T-001");
const JUDGE = { kind: "command" as const, argv: ["judge"] };
const judging = (gate: Partial<PlannedGate> = {}, agent: PlannedTask["agent"] = JUDGE): PlannedTask => ({
  task: { ...planned("T-001-reviewer").task, kind: "run" },
  deps: ["T-001"],
  agent,
  gate: { skill: "reviewer", of: "T-001", blocks: "error", ...gate },
});

function held(tasks: readonly PlannedTask[], gates: RunOptions["gates"], byPolicy: Gate[] = []): string {
  const options = runOptions(gates === undefined ? {} : { gates });
  const intent = { options, policy: { profiles: ["team"], gates: byPolicy } };
  try {
    const all = [T1, ...tasks].map((one) => ({ planned: one }));
    for (const { planned: one } of all) requireGates(one, all, intent);
    return "met";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const UNPLANNED = "ANT_GATE_UNPLANNED";
const REVIEWER: RunOptions["gates"] = { skills: ["reviewer"] };
const CODE: Gate = { name: "code", skill: "reviewer", paths: ["src/**", "db/**"] };

test("a plan without a skill that the run or its policy demands is refused before anything of it lands", () => {
  expect(held([], undefined)).toBe("met");
  expect(held([], undefined, [{ name: "people" }])).toBe("met");
  expect(held([], REVIEWER)).toBe(UNPLANNED);
  expect(held([], undefined, [CODE])).toBe(UNPLANNED);
  expect(held([judging()], REVIEWER)).toBe("met");
  expect(held([judging()], { skills: ["reviewer", "qa"] })).toBe(UNPLANNED);
  expect(held([planned("T-002"), judging()], REVIEWER)).toBe(UNPLANNED);
  expect(held([judging({ of: "T-002" })], REVIEWER)).toBe(UNPLANNED);
});

test("a planned skill that judges fewer changes, or blocks on fewer findings, does not count", () => {
  expect(held([judging({ paths: ["src/**"] })], REVIEWER)).toBe(UNPLANNED);
  expect(held([judging({ paths: ["src/**"] })], undefined, [CODE])).toBe(UNPLANNED);
  expect(held([judging({ paths: ["db/**", "src/**", "x"] })], undefined, [CODE])).toBe("met");
  expect(held([judging()], undefined, [CODE])).toBe("met");
  expect(held([judging()], { skills: ["reviewer"], blocks: "info" })).toBe(UNPLANNED);
  expect(held([judging()], undefined, [{ ...CODE, blocks: "warning" }])).toBe(UNPLANNED);
  expect(held([judging({ blocks: "info" })], REVIEWER, [{ ...CODE, blocks: "warning" }])).toBe("met");
});

test("a skill whose agent the policy names is that agent's", () => {
  const named = { ...CODE, agent: JUDGE };
  expect(held([judging()], REVIEWER, [named, { ...CODE, name: "other" }])).toBe("met");
  expect(held([judging({}, { kind: "command", argv: ["true"] })], undefined, [named])).toBe(UNPLANNED);
});
