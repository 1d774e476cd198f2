/** Runs the same faults against a simple work queue, to show that the checker finds its violations. */
import { afterAll, expect, test } from "vitest";
import { sized } from "../support/night.ts";
import { patient } from "../support/patience.ts";
import { cleanUpRepos } from "../support/repo.ts";
import { startNaive } from "./naive/system.ts";
import { tortured } from "./small-campaign.ts";

afterAll(cleanUpRepos);

test(
  "the same faults break a naive work queue in at least five places, so the rig finds what Antiphon survives",
  { timeout: patient(300_000) },
  async () => {
    const { judgement } = await tortured({
      runs: sized(30, 60),
      spanMs: sized(8_000, 15_000),
      counts: { kill: sized(12, 20), stop: sized(4, 6), nats: sized(1, 2) },
      sizes: { api: 1, worker: 3 },
      dockerEvery: 0,
      poison: false,
      start: startNaive,
      outDir: null,
    });
    expect(judgement.violations.length).toBeGreaterThanOrEqual(5);
    expect(judgement.violations.map(({ invariant }) => invariant)).toContain("I3");
    expect(judgement.violations.every(({ counterexample }) => counterexample !== undefined)).toBe(true);
  },
);
