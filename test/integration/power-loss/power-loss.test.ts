/**
 * What a power cut takes: with `sync_interval: always` nothing that was acknowledged; with the server's own default a
 * lot, which shows that the rig would see it. ANTIPHON_POWER_CUTS=50 cuts as often in one life of the store.
 */
import { describe, expect, it } from "vitest";
import { powerTrial } from "../../chaos/power-loss/acknowledged.ts";

const CUTS = Number(process.env["ANTIPHON_POWER_CUTS"] ?? 2);
const SEED = Number(process.env["ANTIPHON_POWER_SEED"] ?? 1);

/** First a cut that takes all it can, then ones that leave something behind by chance. */
const seeds = Array.from({ length: CUTS }, (_, index) => (index === 0 ? null : SEED + index));

describe("a power cut", () => {
  it(
    "J5 takes nothing that was acknowledged: no record of a batch, no single one, no document, no file",
    { timeout: 30_000 + CUTS * 10_000 },
    async () => {
      const result = await powerTrial({ sync: "always", seeds, promises: 1_000 });
      expect(result.lost).toEqual([]);
      expect(result.acknowledged).toBeGreaterThanOrEqual(1_000 * CUTS);
      expect(result.batched).toBeGreaterThan(0);
      expect(result.singles).toBeGreaterThan(0);
    },
  );

  it("takes acknowledged records from a server that acknowledges before it fsyncs: the rig sees a loss", async () => {
    const result = await powerTrial({ sync: "lazy", seeds: [null], promises: 1_000 });
    expect(result.lost.length).toBeGreaterThan(0);
    expect(result.cuts[0]?.bytes).toBeGreaterThan(0);
  });
});
