import { describe, expect, test } from "vitest";
import { planned, RecordLog } from "../testing/record-log.ts";
import { measurementsOf } from "./measurements.ts";

/** Record n is at n thousandths of a second. */
const measured = (log: RecordLog) => measurementsOf(log.records.at(-1)!, log.records.slice(0, -1));
const opened = (): RecordLog => new RecordLog().opened([planned("T-001")], {}, "DEBUG");
const claimed = (): RecordLog => opened().dispatched("T-001").claimed("T-001");

describe("a record is measured", () => {
  test("a plan, by the time since the intent", () => {
    expect(measured(opened())).toEqual([
      { observe: "antiphon_routing_duration_seconds", labels: {}, seconds: 0.001 },
    ]);
  });

  test("a claim, by the time since the dispatch of its own epoch", () => {
    const log = opened().dispatched("T-001").lapsed("T-001", 1).dispatched("T-001", 2).claimed("T-001", 2);
    expect(measured(log)).toEqual([
      { observe: "antiphon_queue_wait_seconds", labels: { agent: "scripted" }, seconds: 0.001 },
    ]);
  });

  test("a result, by kind and code; one without a claim has no duration", () => {
    expect(measured(claimed().reported("T-001", 1, "failed", "ANT_TASK_FAILED"))).toEqual([
      {
        count: "antiphon_attempts_total",
        labels: { agent: "scripted", kind: "reported", code: "ANT_TASK_FAILED" },
      },
      { observe: "antiphon_attempt_duration_seconds", labels: { agent: "scripted" }, seconds: 0.001 },
    ]);
    expect(measured(opened().dispatched("T-001").lapsed("T-001", 1))).toEqual([
      { count: "antiphon_attempts_total", labels: { agent: "scripted", kind: "lapsed", code: "none" } },
    ]);
  });

  test("a verdict, by its code, and by the time since the result", () => {
    const log = claimed().reported("T-001", 1, "ok");
    expect(measured(log.judged("T-001", 1, { verdict: "FAIL", code: "ANT_VERIFY_FAILED" }))).toEqual([
      { count: "antiphon_verdicts_total", labels: { verdict: "FAIL", code: "ANT_VERIFY_FAILED" } },
      { observe: "antiphon_verification_duration_seconds", labels: { verdict: "FAIL" }, seconds: 0.001 },
    ]);
  });

  test("a landing, by the time since the intent; a refused one only by its code", () => {
    const log = claimed().reported("T-001", 1, "ok").judged("T-001", 1, {});
    const refusal = { kind: "refused", code: "ANT_LANDING_CONFLICT", message: "" } as const;
    const refused = log.add("landing", "T-001", 1, refusal);
    expect(measured(refused)).toEqual([
      { count: "antiphon_landings_total", labels: { kind: "refused", code: "ANT_LANDING_CONFLICT" } },
    ]);
    expect(measured(log.landed("T-001", 1, "c".repeat(40)))).toEqual([
      { count: "antiphon_landings_total", labels: { kind: "landed", code: "none" } },
      { observe: "antiphon_time_to_land_seconds", labels: { workflow: "DEBUG" }, seconds: 0.007 },
    ]);
  });

  test("an end, by workflow, status, agent and code; tasks of different agents are `mixed`", () => {
    const other = { ...planned("T-002"), agent: { kind: "replay", seed: "s" } } as const;
    const log = new RecordLog().opened([planned("T-001"), other], {}, "DEBUG");
    const closed = log.add("closed", null, 0, {
      status: "failed",
      code: "ANT_TASK_FAILED",
      message: "",
      contract: { status: "FAILED" } as never,
      commit: null,
      landedOn: null,
      seal: `sha256:${"0".repeat(64)}`,
    });
    expect(measured(closed)).toEqual([
      {
        count: "antiphon_runs_total",
        labels: { workflow: "DEBUG", status: "failed", agent: "mixed", code: "ANT_TASK_FAILED" },
      },
      {
        observe: "antiphon_run_duration_seconds",
        labels: { workflow: "DEBUG", status: "failed" },
        seconds: 0.002,
      },
    ]);
  });
});
