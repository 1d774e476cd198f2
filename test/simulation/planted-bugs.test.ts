import { afterAll, describe, expect, test } from "vitest";
import { patient } from "../support/patience.ts";
import { runCampaign } from "./campaign.ts";
import { PLANTED_BUGS } from "./planted-bugs.ts";

describe("the simulation finds every planted bug", () => {
  const told: string[] = [];
  afterAll(() => console.log(["planted bug, found by seed, as", ...told].join("\n")));

  test.each(PLANTED_BUGS.map((bug) => [bug.name, bug] as const))(
    "%s",
    async (_, bug) => {
      const { failed, seeds } = await runCampaign({
        from: 1,
        seeds: bug.withinSeeds,
        mutation: bug,
        stopAtFinding: true,
      });
      const [found] = failed;
      expect(found, `${bug.bug}: not found in ${seeds} seeds`).toBeDefined();
      told.push(`  ${bug.name}: ${found?.seed} (of ${bug.withinSeeds}): ${found?.findings[0]}`);
    },
    patient(600_000),
  );
});
