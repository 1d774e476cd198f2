import { afterAll, expect, test } from "vitest";
import { sized } from "../support/night.ts";
import { replayCommand, runCampaign } from "./campaign.ts";
import { MISHAPS } from "./mishap.ts";
import { runSeed } from "./seed.ts";

/** For more worlds: `npx tsx test/simulation/main.ts --seeds 100000`. */
const SEEDS = Number(process.env["ANTIPHON_SIMULATION_SEEDS"] ?? sized(300, 2000));

const told: string[] = [];
afterAll(() => console.log(told.join("\n")));

test("nothing is lost and nothing done twice in any of the simulated worlds, whatever goes wrong in them", async () => {
  const { failed, seeds, runs, mishaps, wallMs } = await runCampaign({ from: 1, seeds: SEEDS });
  told.push(`${seeds} worlds, ${runs} runs, ${(wallMs / 1000).toFixed(0)} s`);
  for (const kind of MISHAPS) told.push(`${String(mishaps[kind]).padStart(8)}  ${kind}`);
  const findings = failed.map(
    ({ seed, findings: found }) => `seed ${seed}: ${found.join("; ")}\n  ${replayCommand(seed)}`,
  );
  expect(findings).toEqual([]);
  expect({ seeds, enough: runs > 3 * SEEDS }).toEqual({ seeds: SEEDS, enough: true });
  expect(
    MISHAPS.filter((kind) => mishaps[kind] === 0),
    "what never went wrong was not tested",
  ).toEqual([]);
}, 1_800_000);

test("the same seed gives the same world, event by event, whatever ran before it", async () => {
  const first = await runSeed(7);
  await runSeed(8);
  const again = await runSeed(7);
  expect(again).toEqual(first);
  const { failed } = await runCampaign({
    from: 7,
    seeds: 1,
    onResult: (result) => expect(result.hash).toBe(first.hash),
  });
  expect(failed).toEqual([]);
});

/** Seeds that once found a bug. */
test.each([
  [
    1138,
    "I8: an Associate that was cut off took an attempt up again while its first container may have lived",
  ],
  [4097, "I1: a pause that ended another one told a Director of its connection in the wrong order (N3)"],
])("seed %i holds: %s", async (seed) => {
  expect((await runSeed(seed)).findings).toEqual([]);
});

test("a world reaches no clock, timer or randomness of the platform", async () => {
  const before = process.getActiveResourcesInfo().toSorted();
  const now = Date.now();
  const { virtualMs } = await runSeed(3);
  expect(process.getActiveResourcesInfo().toSorted()).toEqual(before);
  expect(Date.now() - now).toBeLessThan(virtualMs);
});
