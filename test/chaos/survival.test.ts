import { afterAll, expect, test } from "vitest";
import { patient } from "../support/patience.ts";
import { cleanUpRepos } from "../support/repo.ts";
import { INVARIANTS } from "./checker/check.ts";
import { CAMPAIGN, told, tortured } from "./small-campaign.ts";

afterAll(cleanUpRepos);

test(
  "Antiphon keeps every invariant through kills, zombies, lost servers, partitions, a full disk and crash points",
  { timeout: patient(600_000) },
  async () => {
    const result = await tortured({});
    expect(told(result)).toEqual([]);
    expect(result.tasks).toBeGreaterThanOrEqual(1.5 * CAMPAIGN.runs);
    const { points, ...others } = CAMPAIGN.counts;
    expect(Object.fromEntries(result.injected.counts)).toMatchObject(others);
    // A crash point that no process reached in time is no failure of the product, but most have to be reached.
    expect(result.injected.counts.get("points")).toBeGreaterThanOrEqual(points / 2);
    expect(result.duplicates).toBeGreaterThan(0);
    expect([...result.ends.keys()]).toEqual(
      expect.arrayContaining(["succeeded", "canceled ANT_RUN_CANCELED"]),
    );
    expect(result.undrained).toEqual([]);
    expect(INVARIANTS).toHaveLength(10);
  },
);
