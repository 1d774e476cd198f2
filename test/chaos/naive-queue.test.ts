/** Runs the same faults against a simple work queue, to show that the checker finds its violations. */
import { afterAll, expect, test } from "vitest";
import { cleanUpRepos } from "../support/repo.ts";
import { startNaive } from "./naive/system.ts";
import { tortured } from "./small-campaign.ts";

afterAll(cleanUpRepos);

test(
  "the same faults break a naive work queue in at least five places, so the rig finds what Antiphon survives",
  { timeout: 300_000 },
  async () => {
    const { judgement } = await tortured({
      runs: 60,
      spanMs: 15_000,
      counts: { kill: 20, stop: 6, nats: 2 },
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
