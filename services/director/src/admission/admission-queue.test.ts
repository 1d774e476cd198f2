import { limits } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { RecordLog, planned } from "@antiphon/run/testing/record-log";
import { openRun, replay } from "@antiphon/run";
import type { RunState } from "@antiphon/run";
import { AdmissionQueue } from "./admission-queue.ts";
import { POLICY } from "../testing/directing.ts";

function batchRun(runId: string): RunState {
  const { records } = new RecordLog(runId).opened([planned("T-001")], { priority: "batch" });
  return replay(openRun(runId, POLICY), records).context;
}

/** A queue whose clock and backlog are moved by hand. */
function begin(backlog: { ready: number; atWork: number }) {
  const state = { now: 0, backlog, passed: [] as string[] };
  const admission: AdmissionQueue = new AdmissionQueue({
    backlog: () => Promise.resolve(state.backlog),
    now: () => state.now,
    admit: (runId) => {
      expect(admission.admits(batchRun(runId), "key")).toBe(true);
      state.passed.push(runId);
      return Promise.resolve();
    },
    onWaiting: () => undefined,
  });
  const hold = (count: number): void => {
    for (let i = 0; i < count; i += 1) expect(admission.admits(batchRun(`run_${i}`), "key")).toBe(false);
  };
  return { state, admission, hold };
}

test("admits as many attempts as there is room beside the ready ones", async () => {
  const { state, admission, hold } = begin({ ready: limits.dispatchAhead - 2, atWork: 0 });
  state.now = limits.dispatchTurnMs;
  hold(5);
  expect(await admission.turn()).toBe("more");
  expect(state.passed).toEqual(["run_0", "run_1"]);
  state.backlog = { ready: limits.dispatchAhead, atWork: limits.dispatchAhead + 1 };
  await admission.turn();
  expect(state.passed).toHaveLength(3);
});

test("director/D9: without room exactly one attempt is admitted every limits.dispatchTurnMs", async () => {
  const { state, admission, hold } = begin({ ready: 10_000, atWork: 0 });
  hold(4);
  await admission.turn();
  expect(state.passed).toEqual(["run_0"]);
  state.now += limits.dispatchTurnMs - 1;
  await admission.turn();
  expect(state.passed).toHaveLength(1);
  for (const expected of [2, 3, 4]) {
    state.now += limits.dispatchTurnMs;
    expect(await admission.turn()).toBe(expected === 4 ? "nothing" : "more");
    expect(state.passed).toHaveLength(expected);
  }
});
