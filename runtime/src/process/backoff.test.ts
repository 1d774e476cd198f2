import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backoffMs } from "./backoff.ts";

describe("backoff", () => {
  it("grows, is jittered by half and never exceeds its cap", () => {
    fc.assert(
      fc.property(fc.nat(100), fc.double({ min: 0, max: 0.999, noNaN: true }), (attempt, random) => {
        const delay = backoffMs(attempt, { baseMs: 50, capMs: 2000 }, random);
        expect(delay).toBeGreaterThanOrEqual(25);
        expect(delay).toBeLessThanOrEqual(2000);
      }),
    );
    expect(backoffMs(3, { baseMs: 50, capMs: 2000 }, 1)).toBe(400);
  });
});
