/**
 * Cuts the power of everything at once during work: server, repositories and every process's state. Then the
 * checker verifies the whole history. `npm run chaos -- --only power --kills 50` cuts more often.
 */
import { afterAll, expect, test } from "vitest";
import { startAntiphon } from "../chaos/rig/antiphon.ts";
import { runCampaign } from "../chaos/rig/campaign.ts";
import { patient } from "../support/patience.ts";
import { cleanUpRepos } from "../support/repo.ts";

afterAll(cleanUpRepos);

test(
  "after a power cut every accepted run ends, and every change has landed at most once",
  { timeout: patient(240_000) },
  async () => {
    const said: string[] = [];
    const result = await runCampaign({
      seed: 2,
      runs: 16,
      spanMs: 4_000,
      counts: { power: 1 },
      sizes: { gateway: 1, router: 1, director: 1, associate: 2 },
      servers: 1,
      repos: 2,
      dockerEvery: 0,
      poison: false,
      duplicates: 0.02,
      open: 16,
      roles: null,
      start: startAntiphon,
      outDir: null,
      progress: (line) => said.push(line),
    });
    expect(result.judgement.violations, said.join("\n")).toEqual([]);
    expect(Object.fromEntries(result.injected.counts)).toEqual({ power: 1 });
    expect(result.deaths).toBeGreaterThanOrEqual(5);
    expect(result.runs).toBeGreaterThanOrEqual(16);
    expect(result.ends.get("succeeded")).toBeGreaterThan(5);
    expect([...result.ends.keys()]).not.toContain("failed ANT_TASK_POISON");
  },
);
