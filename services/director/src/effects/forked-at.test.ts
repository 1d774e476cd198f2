import { planned } from "@antiphon/run/testing/record-log";
import { expect, test } from "vitest";
import { forkedAt } from "./forked-at.ts";

const POINT = { run: "run_a", task: "T-001", epoch: 2, calls: 3 };
const feedback = [{ epoch: 1, code: "ANT_VERIFY_CHECK_FAILED", message: "red", checks: [] }];
const fork = { ...POINT, feedback };
const task = { planned: planned("T-001"), rejections: 0, answers: [] };

test("the first attempt of the forked task begins the recorded one again, also after it was lost", () => {
  expect(forkedAt(task, { fork })).toEqual({ told: feedback, point: POINT });
  const inherited = ["max_attempts" as const];
  expect(forkedAt(task, { fork: { ...fork, inherited } })).toEqual({ told: feedback, point: POINT });
});

test("an attempt after a rejection or an answer goes on live, and is told the feedback of that time", () => {
  expect(forkedAt({ ...task, rejections: 1 }, { fork })).toEqual({ told: feedback, point: null });
  const answers = [{ question: "Which?", answer: "blue" }];
  expect(forkedAt({ ...task, answers }, { fork })).toEqual({ told: feedback, point: null });
});

test("another task, and a run that is no fork, have nothing from before", () => {
  expect(forkedAt({ ...task, planned: planned("T-002") }, { fork })).toEqual({ told: [], point: null });
  expect(forkedAt(task, {})).toEqual({ told: [], point: null });
});
