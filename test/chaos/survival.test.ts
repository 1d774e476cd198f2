/**
 * A small campaign of every kind of fault against real processes, one against a cluster of three servers, and the same
 * faults against the naive twin. The big ones are `npm run chaos`.
 */
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { INVARIANTS } from "./checker/check.ts";
import { startNaive } from "./naive/system.ts";
import { startAntiphon } from "./rig/antiphon.ts";
import { runCampaign, type CampaignOptions, type CampaignResult } from "./rig/campaign.ts";
import { pointsOf } from "./rig/crash-point-list.ts";
import { reportLines } from "./rig/report.ts";
import { cleanUpRepos } from "../support/repo.ts";

const SEED = 4;
const SIZES = { gateway: 2, router: 2, director: 2, associate: 3, "sandbox-runner": 1 };
const POINTS = pointsOf(Object.keys(SIZES)).length;

afterAll(cleanUpRepos);

async function tortured(options: Partial<CampaignOptions>): Promise<CampaignResult> {
  const lines: string[] = [];
  const result = await runCampaign({
    seed: SEED,
    runs: 320,
    spanMs: 40_000,
    counts: { kill: 20, stop: 10, nats: 5, partition: 5, disk: 1, points: POINTS },
    sizes: SIZES,
    servers: 1,
    repos: 4,
    dockerEvery: 40,
    poison: true,
    duplicates: 0.02,
    open: 64,
    roles: null,
    start: startAntiphon,
    outDir: fileURLToPath(new URL("../../.antiphon/chaos", import.meta.url)),
    progress: (line) => lines.push(line),
    ...options,
  });
  process.stdout.write(`${reportLines(result).join("\n")}\n`);
  return result;
}

const told = ({ judgement }: CampaignResult): string[] =>
  judgement.violations.map(({ invariant, rule, what }) => `${invariant} ${rule}: ${what}`);

test(
  "Antiphon keeps every invariant through kills, zombies, lost servers, partitions, a full disk and every crash point",
  { timeout: 600_000 },
  async () => {
    const result = await tortured({});
    expect(told(result)).toEqual([]);
    expect(result.tasks).toBeGreaterThanOrEqual(500);
    expect(Object.fromEntries(result.injected.counts)).toMatchObject({
      kill: 20,
      stop: 10,
      nats: 5,
      partition: 5,
      disk: 1,
    });
    // A point that no process came to in time is no failure of the product; most of them have to be come to.
    expect(result.injected.counts.get("points")).toBeGreaterThanOrEqual(POINTS / 2);
    expect(result.duplicates).toBeGreaterThan(0);
    expect([...result.ends.keys()]).toEqual(
      expect.arrayContaining(["succeeded", "canceled ANT_RUN_CANCELED"]),
    );
    expect(result.undrained).toEqual([]);
    expect(INVARIANTS).toHaveLength(10);
  },
);

test(
  "a cluster of three servers keeps every invariant while its leader, any member or a majority is killed",
  { timeout: 300_000 },
  async () => {
    const result = await tortured({
      runs: 50,
      spanMs: 20_000,
      counts: { kill: 4, nats: 5 },
      servers: 3,
      dockerEvery: 0,
      poison: false,
    });
    expect(told(result)).toEqual([]);
    expect(Object.fromEntries(result.injected.counts)).toMatchObject({ kill: 4, nats: 5 });
    expect(result.undrained).toEqual([]);
  },
);

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
