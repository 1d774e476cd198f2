import { expect, test } from "vitest";
import { anchorSpanId, stageSpanId } from "./stages.ts";
import { parseTraceparent, traceparentOf } from "./trace-context.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

test.each([
  ["all zeros", `00-${"0".repeat(32)}-${SPAN}-01`],
  ["no span", `00-${TRACE}-${"0".repeat(16)}-01`],
  ["the version ff", `ff-${TRACE}-${SPAN}-01`],
  ["upper case", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ["more parts in version 00", `00-${TRACE}-${SPAN}-01-more`],
  ["a header of any length", `01-${TRACE}-${SPAN}-01-${"x".repeat(1_000)}`],
  ["a line break", `00-${TRACE}-${SPAN}-01\r\nevil: 1`],
  ["nothing", ""],
])("%s is no trace context", (_name, text) => {
  expect(parseTraceparent(text)).toBeNull();
});

test("a trace context is read as it was written, also of a later version", () => {
  const context = { traceId: TRACE, spanId: SPAN, sampled: true };
  expect(parseTraceparent(traceparentOf(context))).toEqual(context);
  expect(parseTraceparent(`00-${TRACE}-${SPAN}-00`)?.sampled).toBe(false);
  expect(parseTraceparent(`01-${TRACE}-${SPAN}-03-more`)).toEqual(context);
});

test("a stage has the same span in every process, and every attempt one of its own", () => {
  const place = { runId: "run_a", taskId: "T-001", epoch: 1 };
  expect(stageSpanId(TRACE, "attempt", place)).toBe(
    stageSpanId(TRACE, "attempt", { ...place, taskId: "t-001" }),
  );
  expect(stageSpanId(TRACE, "attempt", place)).not.toBe(
    stageSpanId(TRACE, "attempt", { ...place, epoch: 2 }),
  );
  expect(stageSpanId(TRACE, "attempt", place)).toMatch(/^[0-9a-f]{16}$/);
  expect(anchorSpanId(TRACE, { ...place, taskId: null, epoch: 0 })).toBe(stageSpanId(TRACE, "run", place));
});
