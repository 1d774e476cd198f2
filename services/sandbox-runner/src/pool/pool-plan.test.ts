import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_POOL, pauseMs, poolAfter, startsWanted, type PoolEvent, type PoolState } from "./pool-plan.ts";

const bounds = { warm: 3, slots: 4 };

/** The events that can happen in a state. */
function possible(state: PoolState, nowMs: number): PoolEvent[] {
  const events: PoolEvent[] = [];
  if (startsWanted(state, bounds, nowMs) > 0) events.push({ kind: "start-begun" });
  if (state.starting > 0) events.push({ kind: "start-succeeded" }, { kind: "start-failed", atMs: nowMs });
  if (state.ready > 0) events.push({ kind: "ready-lost" });
  if (state.ready > 0 && state.leased < bounds.slots) events.push({ kind: "ready-leased" });
  if (state.ready === 0 && state.leased < bounds.slots) events.push({ kind: "cold-leased" });
  if (state.leased > 0) events.push({ kind: "lease-ended" });
  return events;
}

describe("the pool's plan", () => {
  it("stays within its bounds for any events in any order", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 200 }), (choices) => {
        let state = EMPTY_POOL;
        choices.forEach((choice, step) => {
          const events = possible(state, step * 1000);
          const event = events[choice % Math.max(1, events.length)];
          if (event !== undefined) state = poolAfter(state, event);
          expect(state.ready + state.starting).toBeLessThanOrEqual(bounds.warm);
          expect(state.ready + state.starting + state.leased).toBeLessThanOrEqual(bounds.warm + bounds.slots);
          expect(Math.min(state.ready, state.starting, state.leased)).toBeGreaterThanOrEqual(0);
        });
      }),
    );
  });

  it("pauses after failures, longer each time, and starts again at once after a success", () => {
    const failed = poolAfter({ ...EMPTY_POOL, starting: 1 }, { kind: "start-failed", atMs: 1000 });
    expect(startsWanted(failed, bounds, 1499)).toBe(0);
    expect(startsWanted(failed, bounds, 1500)).toBe(3);
    expect([0, 1, 2, 3, 20].map(pauseMs)).toEqual([0, 500, 1000, 2000, 30_000]);
    const again = poolAfter({ ...failed, starting: 1 }, { kind: "start-succeeded" });
    expect(startsWanted(again, bounds, 1001)).toBe(2);
  });
});
