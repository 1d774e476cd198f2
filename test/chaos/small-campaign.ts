/**
 * A campaign small enough for every push, and a larger one for each night, with every kind of fault against real processes.
 * `npm run chaos` runs big ones.
 */
import { fileURLToPath } from "node:url";
import { sized } from "../support/night.ts";
import { startAntiphon } from "./rig/antiphon.ts";
import { runCampaign, type CampaignOptions, type CampaignResult } from "./rig/campaign.ts";
import { pointsOf } from "./rig/crash-point-list.ts";
import { reportLines } from "./rig/report.ts";

const SEED = 4;
const SIZES = { gateway: 2, router: 2, director: 2, associate: 3, "sandbox-runner": 1 };
export const POINTS = pointsOf(Object.keys(SIZES)).length;

export const CAMPAIGN = {
  runs: sized(100, 320),
  spanMs: sized(15_000, 40_000),
  counts: {
    ...{ kill: sized(8, 20), stop: sized(4, 10), nats: sized(2, 5), partition: sized(2, 5), disk: 1 },
    points: sized(Math.ceil(POINTS / 3), POINTS),
  },
};

export async function tortured(options: Partial<CampaignOptions>): Promise<CampaignResult> {
  const lines: string[] = [];
  const result = await runCampaign({
    seed: SEED,
    ...CAMPAIGN,
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

export const told = ({ judgement }: CampaignResult): string[] =>
  judgement.violations.map(({ invariant, rule, what }) => `${invariant} ${rule}: ${what}`);
