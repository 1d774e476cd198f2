import { describe, expect, it } from "vitest";
import { ackVerb } from "./outcome.ts";

describe("the outcome table", () => {
  it("maps each outcome to one verb", () => {
    expect(ackVerb({ kind: "done" })).toEqual({ verb: "ack", payload: "+ACK" });
    expect(ackVerb({ kind: "retry", delayMs: 1500 })).toEqual({
      verb: "nak",
      payload: '-NAK {"delay":1500000000}',
    });
    expect(ackVerb({ kind: "terminal", code: "ANT_TASK_POISON", detail: "why" })).toEqual({
      verb: "term",
      payload: "+TERM ANT_TASK_POISON",
      deadLetter: { code: "ANT_TASK_POISON", detail: "why" },
    });
  });

  it("keeps a retry's delay between its floor and its cap", () => {
    expect(ackVerb({ kind: "retry", delayMs: 0 }).payload).toBe('-NAK {"delay":50000000}');
    expect(ackVerb({ kind: "retry", delayMs: 1e9 }).payload).toBe('-NAK {"delay":60000000000}');
  });
});
