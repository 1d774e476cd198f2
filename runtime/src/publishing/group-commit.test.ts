import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { groupCommitDefaults as limits, nextCommit } from "./group-commit.ts";

const load = fc.record({
  queued: fc.nat(5000),
  singlesInFlight: fc.nat(limits.maxSingles),
  batchesInFlight: fc.nat(limits.maxBatches),
});

describe("group commit", () => {
  it("never exceeds its bounds under any load", () => {
    fc.assert(
      fc.property(load, (state) => {
        const next = nextCommit(state, limits);
        if (next.kind === "singles") {
          expect(state.singlesInFlight + next.count).toBeLessThanOrEqual(limits.maxSingles);
          expect(next.count).toBeGreaterThan(0);
        }
        if (next.kind === "batch") {
          expect(state.batchesInFlight).toBeLessThan(limits.maxBatches);
          expect(next.count).toBeGreaterThanOrEqual(limits.batchFrom);
          expect(next.count).toBeLessThanOrEqual(limits.batchMax);
        }
      }),
    );
  });

  it("never waits while something is queued and nothing is in flight", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), (queued) => {
        expect(nextCommit({ queued, singlesInFlight: 0, batchesInFlight: 0 }, limits).kind).not.toBe("wait");
      }),
    );
  });

  it("publishes singly while the queue is short, in batches once it is long", () => {
    const idle = { singlesInFlight: 0, batchesInFlight: 0 };
    expect(nextCommit({ queued: 1, ...idle }, limits)).toEqual({ kind: "singles", count: 1 });
    expect(nextCommit({ queued: 31, ...idle }, limits)).toEqual({ kind: "singles", count: 31 });
    expect(nextCommit({ queued: 32, ...idle }, limits)).toEqual({ kind: "batch", count: 32 });
    expect(nextCommit({ queued: 900, ...idle }, limits)).toEqual({ kind: "batch", count: 400 });
    expect(nextCommit({ queued: 900, singlesInFlight: 1, batchesInFlight: 0 }, limits)).toEqual({
      kind: "wait",
    });
  });
});
