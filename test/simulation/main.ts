/**
 * Simulated worlds from the command line.
 *
 *   npx tsx test/simulation/main.ts --seeds 100000 --from 1    runs them; exit code 1 when one has a finding
 *   npx tsx test/simulation/main.ts --trace 4711               one seed again, with everything that happened
 */
import { parseArgs } from "node:util";
import { check } from "../chaos/checker/check.ts";
import { replayCommand, runCampaign } from "./campaign.ts";
import { traceSeed } from "./seed.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "2000" },
    from: { type: "string", default: "1" },
    threads: { type: "string" },
    trace: { type: "string" },
    json: { type: "boolean", default: false },
  },
});

if (values.trace !== undefined) await showTrace(Number(values.trace));
else await runMany();

async function showTrace(seed: number): Promise<void> {
  const { result, report } = await traceSeed(seed);
  console.log(JSON.stringify({ fleet: report.plan.fleet, faults: report.plan.faults }, null, 1));
  for (const line of report.trace) console.log(line);
  for (const { invariant, rule, what, counterexample } of check(report.history).violations) {
    console.log(`${invariant} ${rule}: ${what}`);
    for (const record of counterexample?.records ?? []) console.log(`   ${record.seq} ${record.subject}`);
  }
  console.log(result);
  if (result.findings.length > 0) process.exitCode = 1;
}

async function runMany(): Promise<void> {
  const campaign = await runCampaign({
    from: Number(values.from),
    seeds: Number(values.seeds),
    ...(values.threads === undefined ? {} : { threads: Number(values.threads) }),
    onResult: ({ seed, findings }) => {
      for (const finding of findings) console.error(`seed ${seed}: ${finding}\n   ${replayCommand(seed)}`);
    },
  });
  const { seeds, runs, records, steps, mishaps, virtualMs, wallMs, failed } = campaign;
  const seconds = wallMs / 1000;
  const summary = {
    seeds,
    runs,
    records,
    steps,
    mishaps,
    virtualHours: Math.round(virtualMs / 360_000) / 10,
    seconds: Math.round(seconds * 10) / 10,
    seedsPerSecond: Math.round((10 * seeds) / seconds) / 10,
    runsPerSecond: Math.round((10 * runs) / seconds) / 10,
    virtualSecondsPerSecond: Math.round(virtualMs / wallMs),
    failedSeeds: failed.map(({ seed }) => seed),
  };
  console.log(values.json ? JSON.stringify({ ...summary, failed }) : summary);
  if (failed.length > 0) process.exitCode = 1;
}
