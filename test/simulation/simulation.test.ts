import { expect, test } from "vitest";
import { replayCommand, runCampaign } from "./campaign.ts";
import { runSeed } from "./seed.ts";

/** More of them: `npx tsx test/simulation/main.ts --seeds 100000`. */
const SEEDS = Number(process.env["ANTIPHON_SIMULATION_SEEDS"] ?? 200);

test("nothing is lost and nothing done twice in any of the simulated worlds", async () => {
  const { failed, seeds, runs } = await runCampaign({ from: 1, seeds: SEEDS });
  const told = failed.map(
    ({ seed, findings }) => `seed ${seed}: ${findings.join("; ")}\n  ${replayCommand(seed)}`,
  );
  expect(told).toEqual([]);
  expect({ seeds, enough: runs > 4 * SEEDS }).toEqual({ seeds: SEEDS, enough: true });
}, 1_800_000);

test("Y1 the same seed gives the same world, event by event, whatever ran before it", async () => {
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

/** Seeds that found something once. */
test.each([
  [71, "a second delivery's acknowledgement swallowed the retry of the first"],
  [56, "a Director verified a proposal without having heard of an earlier one of the same run"],
  [77, "a series of answers with a hole in it was taken for a whole run"],
])("seed %i holds: %s", async (seed) => {
  expect((await runSeed(seed)).findings).toEqual([]);
});

test("Z1 nothing of the platform is reached while a world runs", async () => {
  const before = process.getActiveResourcesInfo().toSorted();
  const now = Date.now();
  const { virtualMs } = await runSeed(3);
  expect(process.getActiveResourcesInfo().toSorted()).toEqual(before);
  expect(Date.now() - now).toBeLessThan(virtualMs);
});
