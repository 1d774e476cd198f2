import { describe, expect, test } from "vitest";
import { classify } from "./classify.ts";
import { LABELLED_GOALS, UNSEEN_GOALS } from "./labelled-goals.ts";
import { mute } from "./fault-mentions.ts";
import { READ_CHARS } from "./signals.ts";

describe("classify", () => {
  test.each([
    { name: "labelled", goals: LABELLED_GOALS, floor: 0.98 },
    { name: "unseen", goals: UNSEEN_GOALS, floor: 0.75 },
  ])("classifies the $name goals with an accuracy of at least $floor", ({ name, goals, floor }) => {
    const misses = goals.flatMap(([goal, expected]) => {
      const got = classify(goal, null);
      return got.workflow === expected
        ? []
        : [`${expected} read as ${got.workflow} (${got.reason}): ${goal}`];
    });
    const hits = goals.length - misses.length;
    console.log([`classifier: ${hits} of ${goals.length} ${name} goals`, ...misses].join("\n  "));
    expect(hits / goals.length).toBeGreaterThanOrEqual(floor);
  });

  test("the table of labelled goals has at least 60 rows", () => {
    expect(LABELLED_GOALS.length).toBeGreaterThanOrEqual(60);
  });

  test("the caller's choice wins over an error signal", () => {
    expect(classify("Fix the crash", "PLAN")).toEqual({
      workflow: "PLAN",
      reason: "given by the caller",
      confidence: 1,
      signals: [],
    });
  });

  test("an error signal wins over plan and review", () => {
    expect(classify("Plan and review the fix for the crash", null).workflow).toBe("DEBUG");
  });

  test("plan wins over review", () => {
    expect(classify("Plan a code review", null).workflow).toBe("PLAN");
  });

  test("the reason quotes the words that decided", () => {
    const { reason } = classify("The tests are failing with exit code 2", null);
    expect(reason).toContain("error signal");
    expect(reason).toContain('"failing"');
    expect(reason).toContain('"exit code 2"');
  });

  test("a goal without signals is BUILD with low confidence", () => {
    const { workflow, confidence } = classify("daily brief", null);
    expect(workflow).toBe("BUILD");
    expect(confidence).toBeLessThan(0.5);
  });

  test("agreeing words raise the confidence and a rival workflow lowers it", () => {
    const one = classify("There is a bug", null).confidence;
    const more = classify("There is a bug, the tests fail", null).confidence;
    const contested = classify("Review the bug", null).confidence;
    expect(more).toBeGreaterThan(one);
    expect(contested).toBeLessThan(one);
  });

  test("router/R1: the same goal is always classified the same way", () => {
    const first = LABELLED_GOALS.map(([goal]) => classify(goal, null));
    const second = LABELLED_GOALS.map(([goal]) => classify(goal, null));
    expect(second).toEqual(first);
  });

  test("router/R2: a hostile goal is read in bounded time", () => {
    const hostile = [
      "add when ".repeat(4000),
      "at ((((".repeat(4000),
      "a ".repeat(20_000),
      "expected ".repeat(4000),
    ];
    for (const goal of hostile) {
      const startedAt = performance.now();
      classify(goal, null);
      expect(performance.now() - startedAt).toBeLessThan(1000);
    }
  });

  test("muting keeps every other character in its place", () => {
    const goal = "Add error handling to the upload";
    expect(mute(goal)).toHaveLength(goal.length);
    expect(mute(goal)).toContain("to the upload");
    expect(mute("x".repeat(READ_CHARS))).toHaveLength(READ_CHARS);
  });
});
