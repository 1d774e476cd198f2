import type { Feedback } from "@antiphon/contracts";
import { describe, expect, test } from "vitest";
import { briefJson } from "./brief.ts";
import { dispatchOf } from "../testing/dispatch.fixture.ts";

function feedback(epoch: number, tail: string): Feedback {
  const check = { command: "npm test", timedOut: false, durationMs: 1, stdout: null, stderr: null, tail };
  return {
    epoch,
    code: "ANT_VERIFY_CHECK_FAILED",
    message: `rejected ${epoch}`,
    checks: [
      { ...check, exitCode: 1 },
      { ...check, command: "true", exitCode: 0 },
    ],
  };
}

describe("briefJson", () => {
  test("the brief holds task, goal, epoch, answers and the failed checks", () => {
    const dispatch = dispatchOf({
      feedback: [feedback(1, "boom")],
      answers: [{ question: "Which?", answer: "Red" }],
    });
    expect(JSON.parse(briefJson(dispatch, 2, { maxBytes: 10_000, previousDiff: null }))).toEqual({
      goal: "Say hello",
      epoch: 2,
      task: dispatch.task,
      feedback: [
        {
          epoch: 1,
          code: "ANT_VERIFY_CHECK_FAILED",
          message: "rejected 1",
          checks: [{ command: "npm test", exitCode: 1, timedOut: false, tail: "boom" }],
        },
      ],
      answers: [{ question: "Which?", answer: "Red" }],
    });
  });

  test("a brief is as long as its bytes, and drops the oldest answers at last", () => {
    const answers = Array.from({ length: 4 }, (_, i) => ({ question: `${i}?`, answer: "日".repeat(1000) }));
    const dispatch = dispatchOf({ answers, feedback: [feedback(1, "boom")] });
    const of = (maxBytes: number) => {
      const json = briefJson(dispatch, 2, { maxBytes, previousDiff: null });
      const brief = JSON.parse(json) as { answers: unknown; feedback: unknown[] };
      return { bytes: Buffer.byteLength(json), ...brief };
    };
    expect(of(20_000)).toMatchObject({ answers, feedback: [{ epoch: 1 }] });
    const short = of(8000);
    expect(short.bytes).toBeLessThanOrEqual(8000);
    expect([short.feedback, short.answers]).toEqual([[], answers.slice(2)]);
    expect(of(100).answers).toEqual(answers.slice(3));
  });

  test("a brief that is too long drops the oldest feedback first and keeps the task", () => {
    const dispatch = dispatchOf({
      feedback: Array.from({ length: 20 }, (_, i) => feedback(i + 1, "y".repeat(2000))),
    });
    const json = briefJson(dispatch, 21, { maxBytes: 6000, previousDiff: null });
    const brief = JSON.parse(json) as { task: unknown; feedback: { epoch: number }[] };
    expect(json.length).toBeLessThanOrEqual(6000);
    expect(brief.task).toEqual(dispatch.task);
    expect(brief.feedback.at(-1)?.epoch).toBe(20);
    expect(brief.feedback.length).toBeGreaterThan(2);
  });

  test("the end of a long output is kept, not its start", () => {
    const json = briefJson(dispatchOf({ feedback: [feedback(1, `${"x".repeat(5000)}the cause`)] }), 2, {
      maxBytes: 100_000,
      previousDiff: null,
    });
    expect(json).toContain("the cause");
  });

  test("the diff of the attempt before is told if it fits, and dropped before any feedback", () => {
    const dispatch = dispatchOf({ feedback: [feedback(1, "boom")] });
    const told = (previousDiff: string): Record<string, unknown> =>
      JSON.parse(briefJson(dispatch, 2, { maxBytes: 4000, previousDiff })) as Record<string, unknown>;
    expect(told("--- a/x\n")["previous_diff"]).toBe("--- a/x\n");
    expect(told("y".repeat(4000))["previous_diff"]).toBeUndefined();
    expect(told("y".repeat(4000))["feedback"]).toHaveLength(1);
  });
});
