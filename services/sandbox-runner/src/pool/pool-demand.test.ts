import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { afterStart, afterTake, noDemand, worthHaving, type Demand } from "./pool-demand.ts";

const MINUTE = 60_000;

function after(takes: readonly number[], startMs: number): Demand {
  const known = afterStart(noDemand(-60 * MINUTE), startMs);
  return takes.reduce((demand, at) => afterTake(demand, at), known);
}

/**
 * Counts the takes that find nothing ready, in a pool that holds `size` at first and starts one sandbox after the
 * other.
 */
function waits(takes: readonly number[], size: number, startMs: number): number {
  let ready = size;
  let busyUntil = Number.NEGATIVE_INFINITY;
  const due: number[] = [];
  let waited = 0;
  for (const at of takes) {
    while ((due[0] ?? Number.POSITIVE_INFINITY) <= at) {
      due.shift();
      ready += 1;
    }
    if (ready === 0) waited += 1;
    else ready -= 1;
    if (ready + due.length < size) {
      busyUntil = Math.max(busyUntil, at) + startMs;
      due.push(busyUntil);
    }
  }
  return waited;
}

describe("the number of sandboxes worth having ready", () => {
  it("is the most allowed until ten minutes have passed, and one when nothing was taken in them", () => {
    const young = noDemand(0);
    expect(worthHaving(young, 8, 9 * MINUTE)).toBe(8);
    expect(worthHaving(young, 8, 10 * MINUTE)).toBe(1);
    expect(worthHaving(young, 0, 10 * MINUTE)).toBe(0);
  });

  it("is the number taken at once, and is forgotten ten minutes later", () => {
    const burst = after([0, 5, 10], 300);
    expect(worthHaving(burst, 8, MINUTE)).toBe(3);
    expect(worthHaving(burst, 2, MINUTE)).toBe(2);
    expect(worthHaving(burst, 8, 11 * MINUTE)).toBe(1);
    expect(worthHaving(after([0, 10_000, 20_000], 300), 8, MINUTE)).toBe(1);
  });

  it("forgets a slow start gradually", () => {
    let demand = afterStart(noDemand(0), 1000);
    for (let i = 0; i < 10; i += 1) demand = afterStart(demand, 100);
    expect(demand.startMs).toBeCloseTo(348.7, 0);
  });

  it("makes no take wait that would not have waited with a full pool", () => {
    const gaps = fc.array(fc.nat({ max: 2_000 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 8 }), (pauses, most) => {
        let at = 0;
        const takes = pauses.map((pause) => (at += pause));
        const worth = worthHaving(after(takes, 250), most, at + 1);
        expect(waits(takes, worth, 250)).toBeLessThanOrEqual(waits(takes, most, 250));
      }),
    );
  });
});
