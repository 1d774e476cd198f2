import { afterAll, expect, test } from "vitest";
import { cleanUpRepos } from "../support/repo.ts";
import { told, tortured } from "./small-campaign.ts";

afterAll(cleanUpRepos);

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
