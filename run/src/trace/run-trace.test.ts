import { expect, test } from "vitest";
import { stageSpanId } from "@antiphon/contracts/tracing/stages";
import { traceparentOf } from "@antiphon/contracts/tracing/trace-context";
import type { ReadRecord } from "../facts/run-facts.ts";
import { randomRun } from "../testing/random-run.ts";
import { traceOf } from "./run-trace.ts";

const POLICY = { maxAttempts: 3, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 };
const traceId = "a".repeat(32);

/** Runs of many shapes, a second between their records, with the trace context that the gateway gives them. */
function traced(seed: number, spanId?: string, sampled = true): ReadRecord[] {
  return randomRun(seed, POLICY).map((record, i) => {
    const { runId } = record;
    const own = stageSpanId(traceId, "run", { runId, taskId: null, epoch: 0 });
    const traceparent = traceparentOf({ traceId, spanId: spanId ?? own, sampled });
    const at = new Date(1_700_000_000_000 + 1_000 * i);
    return { ...record, at, ...(record.type === "intent" ? { traceparent } : {}) };
  });
}

const SEEDS = Array.from({ length: 60 }, (_, i) => i + 1);
const isOver = (records: readonly ReadRecord[]): boolean => records.some(({ type }) => type === "closed");

test("the trace of a run that is over is one tree: one root, and every other span has its parent in it", () => {
  const over = SEEDS.map((seed) => traced(seed)).filter(isOver);
  expect(over.length).toBeGreaterThan(10);
  for (const records of over) {
    const spans = traceOf(records);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(ids.size).toBe(spans.length);
    expect(spans.filter(({ parentSpanId }) => parentSpanId === null).map(({ name }) => name)).toEqual([
      "run",
    ]);
    for (const { name, parentSpanId, startMs, endMs } of spans) {
      if (name !== "run") expect(ids, name).toContain(parentSpanId);
      expect(endMs).toBeGreaterThanOrEqual(startMs);
    }
    const attempts = new Set(
      records.filter(({ type }) => type === "dispatch").map(({ taskId, epoch }) => `${taskId} ${epoch}`),
    );
    const shown = spans.filter(({ name }) => / attempt /.test(name) && !name.startsWith("integration"));
    expect(shown.length).toBeGreaterThanOrEqual(attempts.size);
  }
});

test("two Directors tell the same spans", () => {
  const records = SEEDS.map((seed) => traced(seed)).find(isOver)!;
  expect(traceOf(records)).toEqual(traceOf(structuredClone(records)));
});

test("the run belongs to the span of the caller that started it", () => {
  const caller = "b".repeat(16);
  const records = SEEDS.map((seed) => traced(seed, caller)).find(isOver)!;
  expect(traceOf(records)[0]).toMatchObject({ name: "run", traceId, parentSpanId: caller });
});

test("a run without a trace, one whose caller wants no record of it, and one that goes on have no spans", () => {
  const records = SEEDS.map((seed) => traced(seed)).find(isOver)!;
  expect(traceOf(records.map(({ traceparent: _none, ...record }) => record as ReadRecord))).toEqual([]);
  expect(traceOf(SEEDS.map((seed) => traced(seed, undefined, false)).find(isOver)!)).toEqual([]);
  expect(traceOf(records.filter(({ type }) => type !== "closed"))).toEqual([]);
});
