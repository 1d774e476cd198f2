/**
 * Losses by a power cut. With `sync_interval: always` no acknowledged record is lost. With the server's default many
 * are, which shows that the rig would notice. ANTIPHON_POWER_CUTS=50 cuts the power that often in one life of the
 * store.
 */
import { describe, expect, it } from "vitest";
import { powerTrial } from "../../chaos/power-loss/acknowledged.ts";

const CUTS = Number(process.env["ANTIPHON_POWER_CUTS"] ?? 2);
const SEED = Number(process.env["ANTIPHON_POWER_SEED"] ?? 1);

/** The first cut takes all it can; the later ones leave something behind by chance. */
const seeds = Array.from({ length: CUTS }, (_, index) => (index === 0 ? null : SEED + index));

describe("a power cut", () => {
  it(
    "runtime/J7: loses nothing acknowledged: no single record, no record of a batch, no document, no file",
    { timeout: 30_000 + CUTS * 10_000 },
    async () => {
      const result = await powerTrial({ sync: "always", seeds, promises: 1_000 });
      expect(result.lost).toEqual([]);
      expect(result.acknowledged).toBeGreaterThanOrEqual(1_000 * CUTS);
      expect(result.batched).toBeGreaterThan(0);
      expect(result.singles).toBeGreaterThan(0);
    },
  );

  it("loses acknowledged records of a server that acknowledges before it fsyncs, so the rig can see a loss", async () => {
    const result = await powerTrial({ sync: "lazy", seeds: [null], promises: 1_000 });
    expect(result.lost.length).toBeGreaterThan(0);
    expect(result.cuts[0]?.bytes).toBeGreaterThan(0);
  });
});
