import { describe, expect, test } from "vitest";
import { openRun, replay, type RunSnapshot } from "../machine/replay.ts";
import { RecordLog, planned } from "../testing/record-log.ts";
import { dueStep, timersOf } from "./timers.ts";

const POLICY = { maxAttempts: 3, maxLapses: 5, maxOutages: 3, maxIntegrations: 3 };
const BOUNDS = { graceMs: 10_000, questionMs: 60_000 };
const T1 = "T-001";
const fold = (log: RecordLog): RunSnapshot => replay(openRun(log.runId, POLICY), log.records);
const timers = (log: RecordLog) => timersOf(fold(log), BOUNDS);
const at = (log: RecordLog, type: string): Date => log.records.findLast((record) => record.type === type)!.at;
const after = (date: Date, ms: number): Date => new Date(date.getTime() + ms);
const dispatched = (options = {}) => new RecordLog().opened([planned(T1)], options).dispatched(T1);
const step = (log: RecordLog, kind: "deadline" | "rest" | "question" | "budget", epoch: number, now: Date) =>
  dueStep(
    fold(log),
    { kind, runId: log.runId, taskId: kind === "budget" ? null : "t-001", epoch },
    now,
    BOUNDS,
  );

describe("what a run waits for", () => {
  test("an attempt has a deadline: its budget and grace, counted from the claim", () => {
    const log = dispatched();
    expect(timers(log)).toEqual([
      { kind: "deadline", runId: log.runId, taskId: T1, epoch: 1, at: after(at(log, "dispatch"), 310_000) },
    ]);
    log.claimed(T1);
    expect(timers(log)[0]?.at).toEqual(after(at(log, "claim"), 310_000));
    expect(timers(log.reported(T1, 1, "ok"))).toEqual([]);
  });

  test("a run has a budget timer if it asked for one; a question waits its own time or the default", () => {
    const log = dispatched({ run_time_budget_s: 60, question_timeout_s: 5 }).claimed(T1);
    log.reported(T1, 1, "needs_input");
    expect(timers(log)).toEqual([
      { kind: "budget", runId: log.runId, taskId: null, epoch: 0, at: after(at(log, "intent"), 60_000) },
      { kind: "question", runId: log.runId, taskId: T1, epoch: 1, at: after(at(log, "result"), 5_000) },
    ]);
    const patient = dispatched().claimed(T1).reported(T1, 1, "needs_input");
    expect(timers(patient)[0]?.at).toEqual(after(at(patient, "result"), 60_000));
    log.canceled();
    expect(timers(log).filter(({ kind }) => kind === "budget")).toEqual([]);
  });
});

describe("a time that has come", () => {
  test("loses a claim that is older than budget and grace, and no younger one", () => {
    const log = dispatched().claimed(T1);
    const end = after(at(log, "claim"), 310_000);
    expect(step(log, "deadline", 1, after(end, -1))).toEqual({ kind: "later", at: end });
    expect(step(log, "deadline", 1, end)).toEqual({ kind: "lapse", taskId: T1, epoch: 1, holder: "as_1" });
  });

  test("waits for a claim if the attempt is not claimed yet", () => {
    const log = dispatched();
    const now = after(at(log, "dispatch"), 400_000);
    expect(step(log, "deadline", 1, now)).toEqual({ kind: "later", at: after(now, 310_000) });
  });

  test("run/R1: a timer the run no longer waits for changes nothing: another epoch, another phase, a run that is over", () => {
    const never = new Date(8e14);
    const log = dispatched().claimed(T1).lapsed(T1, 1);
    expect(step(log, "deadline", 1, never)).toEqual({ kind: "moot" });
    expect(step(log.dispatched(T1, 2).claimed(T1, 2), "deadline", 1, never)).toEqual({ kind: "moot" });
    expect(step(log, "question", 2, never)).toEqual({ kind: "moot" });
    expect(step(log, "budget", 0, never)).toEqual({ kind: "moot" });
    log.lapsed(T1, 2);
    expect(step(log, "rest", 2, never)).toEqual({ kind: "due", taskId: T1, epoch: 2, of: "rest" });
    expect(step(log.add("due", T1, 2, { kind: "rest" }), "rest", 2, never)).toEqual({ kind: "moot" });
  });

  test("run/R1: a spent budget is reported once: after the cancel the timer is moot", () => {
    const log = dispatched({ run_time_budget_s: 60 });
    const end = after(at(log, "intent"), 60_000);
    expect(step(log, "budget", 0, after(end, -1))).toEqual({ kind: "later", at: end });
    expect(step(log, "budget", 0, end)).toEqual({ kind: "overspent", budgetS: 60 });
    expect(step(log.canceled(), "budget", 0, end)).toEqual({ kind: "moot" });
  });
});
