import { expect, test } from "vitest";
import { dispatchOf } from "../testing/dispatch.fixture.ts";
import { beginsAs, lostBefore } from "./lost-before.ts";

const lost = { type: "result", body: { kind: "lapsed", observer: "as_two", holder: "as_one" } };
const online = dispatchOf({});
const dispatch = {
  ...online,
  task: { ...online.task, egress_profile: { mode: "allowlist" as const, allowlist: [] } },
};
const attempt = { runId: "run_x", taskId: "T-001", epoch: 2, dispatch, cause: { seq: 1, digest: "d" } };

const before = (result: object | null, body = dispatch) =>
  lostBefore(attempt, {
    find: (type) => Promise.resolve((type === "result" ? result : { type, body }) as never),
  });

test("an attempt goes on from the one before only if that was lost, and began with the same", async () => {
  expect(await before(lost)).toEqual({ newest: 1, oldest: 1 });
  expect(await before({ type: "result", body: { kind: "reported" } })).toBeNull();
  expect(await before(null)).toBeNull();
  expect(await before(lost, { ...dispatch, base: { ...dispatch.base, tree: "0".repeat(40) } })).toBeNull();
});

test("several lost ones in a row are one conversation, up to the first that is not", async () => {
  const reported = { type: "result", body: { kind: "reported" } };
  const find = (type: string, _run: string, _task: string | null, epoch: number) =>
    Promise.resolve(
      (type === "dispatch" ? { type, body: dispatch } : epoch === 1 ? reported : lost) as never,
    );
  expect(await lostBefore({ ...attempt, epoch: 5 }, { find })).toEqual({ newest: 4, oldest: 2 });
});

test("another agent, or a new answer of a person, begins another conversation", () => {
  expect(beginsAs(dispatch, { ...dispatch })).toBe(true);
  expect(beginsAs(dispatch, { ...dispatch, agent: { kind: "replay", seed: "s" } })).toBe(false);
  expect(beginsAs(dispatch, { ...dispatch, answers: [{ question: "q", answer: "a" }] })).toBe(false);
});
