import { describe, expect, test } from "vitest";
import { runCampaign } from "./campaign.ts";
import { PLANTED_BUGS } from "./planted-bugs.ts";

describe("the simulation finds what is planted", () => {
  test.each(PLANTED_BUGS.map((bug) => [bug.name, bug] as const))(
    "%s",
    async (_, bug) => {
      const campaign = await runCampaign({
        from: 1,
        seeds: bug.withinSeeds,
        mutation: bug,
        stopAtFinding: true,
      });
      expect(campaign.failed.length, `${bug.bug}: not found in ${campaign.seeds} seeds`).toBeGreaterThan(0);
    },
    600_000,
  );
});
