import { afterAll, expect, test } from "vitest";
import { sized } from "../support/night.ts";
import { patient } from "../support/patience.ts";
import { cleanUpRepos } from "../support/repo.ts";
import { told, tortured } from "./small-campaign.ts";

afterAll(cleanUpRepos);

const COUNTS = { kill: sized(2, 4), nats: 5 };

test(
  "a cluster of three servers keeps every invariant while its leader, any member or a majority is killed",
  { timeout: patient(300_000) },
  async () => {
    const result = await tortured({
      runs: sized(24, 50),
      spanMs: sized(10_000, 20_000),
      counts: COUNTS,
      servers: 3,
      dockerEvery: 0,
      poison: false,
    });
    expect(told(result)).toEqual([]);
    expect(Object.fromEntries(result.injected.counts)).toMatchObject(COUNTS);
    expect(result.undrained).toEqual([]);
  },
);
