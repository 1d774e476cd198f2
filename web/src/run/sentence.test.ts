import { expect, test } from "vitest";
import type { RunRecord } from "../api/run-record.ts";
import { sentenceOf } from "./sentence.ts";

test("a change that passes by checks that say nothing about it says so beside its verdict", () => {
  const verdict = (body: object): RunRecord =>
    ({
      type: "verdict",
      taskId: "T-001",
      epoch: 1,
      body: { verdict: "PASS", commit: "a", ...body },
    }) as RunRecord;
  expect(sentenceOf(verdict({ proves: "nothing" }))).toBe(
    "T-001: clean room: PASS, which proves nothing about the change",
  );
  expect(sentenceOf(verdict({ proves: "regression" }))).toBe("T-001: clean room: PASS");
  expect(sentenceOf(verdict({ proves: "nothing", commit: null }))).toBe("T-001: clean room: PASS");
});

test("the first attempt after a question for a check is called the first, with its number", () => {
  const record = (type: string, epoch: number, body: object = {}): RunRecord =>
    ({ type, taskId: "T-001", epoch, body }) as RunRecord;
  const asked = record("verdict", 1, { verdict: "UNVERIFIABLE", asks: [] });
  const begun = record("dispatch", 2);
  expect(sentenceOf(begun, [asked, begun])).toBe(
    "T-001: first attempt, number 2 after the question, dispatched",
  );
  expect(sentenceOf(begun, [record("dispatch", 1), begun])).toBe("T-001: attempt 2 dispatched");
});

test("a workflow that is a guess is shown with the next best and the way to choose it", () => {
  const choice = { workflow: "REVIEW", reason: "x", confidence: 0.5, tasks: [], unsure: true };
  const routed = (body: object): RunRecord => ({ type: "routed", taskId: null, epoch: 0, body }) as RunRecord;
  const alternatives = [{ workflow: "DEBUG", confidence: 0.4 }];
  expect(sentenceOf(routed({ ...choice, alternatives }))).toBe(
    "REVIEW (a guess; if it is DEBUG, run it again with --workflow DEBUG), 0 task(s)",
  );
  expect(sentenceOf(routed({ ...choice, unsure: false }))).toBe("REVIEW, 0 task(s)");
});
