/** `npm run chaos`: a campaign of faults, or one leg of it, and its verdict. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startNaive } from "../naive/system.ts";
import { startAntiphon } from "./antiphon.ts";
import { runCampaign } from "./campaign.ts";
import { runLegs, sumLines } from "./legs.ts";
import { readOptions } from "./options.ts";
import { reportLines } from "./report.ts";

const OUT = fileURLToPath(new URL("../../../.antiphon/chaos", import.meta.url));
const { seed, legs, kinds, hours, naive, ...sizing } = readOptions(process.argv.slice(2));

process.setMaxListeners(0); // Each server, cable and disk of a leg registers a clean-up for an early end of this process.
const stop = new AbortController();
process.once("SIGINT", () => {
  process.stdout.write("\nno more faults; what was done so far is judged (once more: end at once)\n");
  stop.abort();
});

try {
  const verdicts = await runLegs(legs, {
    stop: stop.signal,
    untilMs: Date.now() + hours * 3_600_000,
    file: join(OUT, `${seed}-campaign.json`),
    told: (result) => process.stdout.write(`${reportLines(result).join("\n")}\n`),
    run: (leg) =>
      runCampaign({
        ...leg,
        ...sizing,
        repos: 6,
        poison: kinds.includes("kill"),
        duplicates: 0.02,
        start: naive ? startNaive : startAntiphon,
        outDir: OUT,
        progress: (text) => process.stdout.write(`${text}\n`),
        stop: stop.signal,
      }),
  });
  if (legs.length > 1) process.stdout.write(`${sumLines(legs.length, verdicts).join("\n")}\n`);
  process.exit(verdicts.every(({ violations }) => Object.keys(violations).length === 0) ? 0 : 1);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exit(2);
}
