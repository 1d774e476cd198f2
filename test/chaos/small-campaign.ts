/** A campaign small enough for every push, with every kind of fault against real processes. `npm run chaos` runs big ones. */
import { fileURLToPath } from "node:url";
import { startAntiphon } from "./rig/antiphon.ts";
import { runCampaign, type CampaignOptions, type CampaignResult } from "./rig/campaign.ts";
import { pointsOf } from "./rig/crash-point-list.ts";
import { reportLines } from "./rig/report.ts";

const SEED = 4;
const SIZES = { gateway: 2, router: 2, director: 2, associate: 3, "sandbox-runner": 1 };
export const POINTS = pointsOf(Object.keys(SIZES)).length;

export async function tortured(options: Partial<CampaignOptions>): Promise<CampaignResult> {
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

export const told = ({ judgement }: CampaignResult): string[] =>
  judgement.violations.map(({ invariant, rule, what }) => `${invariant} ${rule}: ${what}`);
