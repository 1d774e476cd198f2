import type { CheckOutcome, Feedback, Workflow } from "@antiphon/contracts";
import { check } from "@antiphon/run/testing/record-log";
import { expect, test, vi } from "vitest";
import type { RoomOutcome } from "../ports.ts";
import { withRedBase } from "./red-base.ts";

const REJECTED: Feedback = {
  epoch: 1,
  code: "ANT_VERIFY_SELF_FAILED",
  message: "`npm test` exited 1",
  checks: [],
};
const base = (...trials: CheckOutcome[][]) => ({ trials, written: null });
const RED = base([{ ...check(1), command: "npm test" }]);

const { signal } = new AbortController();
const tell = (feedback: Feedback[], workflow: Workflow, outcome: RoomOutcome | null) =>
  withRedBase(feedback, workflow, Promise.resolve(outcome), signal);
const told = async (...given: Parameters<typeof tell>) => (await tell(...given)).at(-1)?.message;

test("the feedback on a failed check says that the check fails without any change as well", async () => {
  expect(await told([REJECTED], "BUILD", RED)).toBe(
    "without any change, `npm test` fails as well; `npm test` exited 1",
  );
});

test.each<[string, Feedback[], Workflow, RoomOutcome | null]>([
  ["the base passes", [REJECTED], "BUILD", base([check(0)])],
  ["the base passes in one of two trials", [REJECTED], "BUILD", base([check(1)], [check(0)])],
  ["the base was not tried", [REJECTED], "BUILD", null],
  ["the base has no trial", [REJECTED], "BUILD", base()],
  ["the run fixes a fault", [REJECTED], "DEBUG", RED],
  [
    "the check that fails on the base passes with the change",
    [{ ...REJECTED, code: "ANT_VERIFY_CHECK_FAILED", checks: [{ ...check(0), command: "npm test" }] }],
    "BUILD",
    RED,
  ],
  ["the attempt failed otherwise", [{ ...REJECTED, code: "ANT_AGENT_FAILED" }], "BUILD", RED],
])("it does not when %s", async (_, feedback, workflow, outcome) => {
  expect(await told(feedback, workflow, outcome)).toBe(REJECTED.message);
});

test("it says so after a rejection by the clean room too", async () => {
  const rejected = { ...REJECTED, code: "ANT_VERIFY_CHECK_FAILED" as const };
  const checks = [{ ...check(1), command: "npm test" }];
  expect(await told([{ ...rejected, checks }], "BUILD", RED)).toMatch(/^without any change/);
});

test("only the newest feedback is about the base of the attempt to come", async () => {
  const [first, second] = await tell([REJECTED, { ...REJECTED, epoch: 2 }], "BUILD", RED);
  expect([first?.message, second?.message]).toEqual([REJECTED.message, expect.stringContaining("as well")]);
});

test("an attempt does not wait for checks on the base that go on", async () => {
  vi.useFakeTimers();
  const waiting = withRedBase([REJECTED], "BUILD", new Promise(() => undefined), signal);
  await vi.advanceTimersByTimeAsync(500);
  expect(await waiting).toEqual([REJECTED]);
  vi.useRealTimers();
});
