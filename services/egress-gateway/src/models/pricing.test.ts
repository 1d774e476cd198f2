import { describe, expect, it } from "vitest";
import { chargeOf, mostOf, type ModelPrice } from "./pricing.ts";

const rates = (by: number) => ({
  ...{ input: by * 1_000_000, output: by * 5_000_000 },
  ...{ cache_read: by * 100_000, cache_write: by * 2_000_000 },
});
const PRICE: ModelPrice = { ...rates(1), max_output: 1_000, long: { above: 1_000, ...rates(2) } };
const usage = (input: number, cache_read = 0) => ({
  ...{ input, output: 10, cache_read },
  ...{ cache_write: 0, cache_write_short: 0 },
});

describe("egress-gateway/E4: a model with another price for long calls", () => {
  it("charges the whole call at it once all input together is longer", () => {
    expect(chargeOf(usage(1_000), PRICE).usd_micro).toBe(1_000 + 50);
    expect(chargeOf(usage(1_001), PRICE).usd_micro).toBe(2 * (1_001 + 50));
    expect(chargeOf(usage(500, 500), PRICE).usd_micro).toBe(500 + 50 + 50);
    expect(chargeOf(usage(500, 501), PRICE).usd_micro).toBe(Math.ceil(2 * (500 + 50 + 50.1)));
  });

  it("reserves it for a call that may be that long, and the plain one for a shorter call", () => {
    expect(mostOf(1_000, 10, PRICE, "none").usd_micro).toBe(1_000 + 50);
    expect(mostOf(1_001, 10, PRICE, "none").usd_micro).toBe(2 * (1_001 + 50));
    for (const input of [1, 999, 1_000, 1_001, 5_000])
      expect(mostOf(input, 10, PRICE, "none").usd_micro).toBeGreaterThanOrEqual(
        chargeOf(usage(input), PRICE).usd_micro,
      );
  });
});
