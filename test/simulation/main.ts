/** Simulated worlds from the command line. */
import { check } from "../chaos/checker/check.ts";
import { CommandLine } from "../support/command-line.ts";
import { replayCommand, runCampaign } from "./campaign.ts";
import { traceSeed } from "./seed.ts";

const line = new CommandLine(`
usage: npx tsx test/simulation/main.ts [options]

  --seeds 2000     worlds to run
  --from 1         the first seed
  --threads <n>    default: one per processor
  --json           the result as JSON
  --trace <seed>   replays one world and prints all its events

Exit 1 when a world has a finding.

  npx tsx test/simulation/main.ts --seeds 100000
  npx tsx test/simulation/main.ts --trace 4711
`);
const values = line.read({
  seeds: { type: "string", default: "2000" },
  from: { type: "string", default: "1" },
  threads: { type: "string" },
  trace: { type: "string" },
  json: { type: "boolean", default: false },
});

if (values.trace !== undefined) await showTrace(line.whole("trace", values.trace, undefined, 0));
else await runMany();

async function showTrace(seed: number): Promise<void> {
  const { result, report } = await traceSeed(seed);
  console.log(JSON.stringify({ fleet: report.plan.fleet, faults: report.plan.faults }, null, 1));
  for (const entry of report.trace) console.log(entry);
  for (const { invariant, rule, what, counterexample } of check(report.history).violations) {
    console.log(`${invariant} ${rule}: ${what}`);
    for (const record of counterexample?.records ?? []) console.log(`   ${record.seq} ${record.subject}`);
  }
  console.log(result);
  if (result.findings.length > 0) process.exitCode = 1;
}

async function runMany(): Promise<void> {
  const campaign = await runCampaign({
    from: line.whole("from", values.from),
    seeds: line.whole("seeds", values.seeds),
    ...(values.threads === undefined ? {} : { threads: line.whole("threads", values.threads, 64) }),
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
