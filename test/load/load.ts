/** One measurement under load: starts the processes, drives the runs, and asks the journal what came of them. */
import { createLogger } from "@antiphon/runtime";
import type { Bus } from "@antiphon/runtime";
import { makeProject } from "../e2e/support/project.ts";
import { audit } from "./audit.ts";
import { measureBareChains } from "./bare-chain.ts";
import { measureBounds } from "./bounds.ts";
import { Completions } from "./completions.ts";
import { drive } from "./drive.ts";
import { intentOf, throughGateway, throughJournal } from "./intake.ts";
import { killEvery, recoveryOf } from "./killer.ts";
import { FsyncCounter, ProcessMeter } from "./meters.ts";
import type { LoadOptions } from "./options.ts";
import { startProcesses, type Processes } from "./processes.ts";
import { reportOf, type Report } from "./report.ts";

const DEADLINE_MS = 60_000;
/** Enough for a p99. */
const CHAINS = 3_000;

export async function load(options: LoadOptions): Promise<Report> {
  const project = options.sandbox === "docker" ? makeProject({ "README.md": "load\n" }) : null;
  const processes = await startProcesses(options);
  try {
    return await measure(options, processes, project?.path ?? null);
  } finally {
    await processes.stop();
    project?.remove();
  }
}

async function measure(options: LoadOptions, processes: Processes, path: string | null): Promise<Report> {
  const bus = await processes.connect();
  const completions = new Completions();
  try {
    await completions.listen(bus);
    const intent = intentOf(options, path === null ? null : { name: "load", path });
    const start =
      processes.gatewayUrl === null
        ? await throughJournal(bus, createLogger("load", { level: "silent" }), intent)
        : await throughGateway(processes.gatewayUrl, intent);
    const { concurrency, rate, runs } = options;
    const say = options.json ? () => undefined : progressOf(runs);
    await drive(
      start,
      completions,
      { runs: options.warmup, concurrency, rate: null, deadlineMs: DEADLINE_MS },
      () => undefined,
    );
    const before = await storedNow(bus);
    const pids = (): ReadonlyMap<string, number> =>
      new Map([...processes.pids(), ["load client", process.pid]]);
    const meter = new ProcessMeter(pids);
    const servers = [...processes.pids()].filter(([name]) => name.startsWith("nats-server"));
    const fsyncs = new FsyncCounter(servers.map(([, pid]) => pid));
    const stop = new AbortController();
    const killing = options.killEvery === null ? [] : killEvery(options.killEvery, processes, stop.signal);
    const driven = await drive(start, completions, { runs, concurrency, rate, deadlineMs: DEADLINE_MS }, say);
    stop.abort();
    const kills = await killing;
    const costs = meter.costs();
    const counted = await fsyncs.stop();
    const after = await storedNow(bus);
    const audited = await audit(bus, driven.accepted, options.steps);
    const perRun = audited.sizes.slice(0, Math.round(audited.records / driven.completeMs.length));
    const bareMs = rate === null ? null : await measureBareChains(bus, perRun, rate, Math.min(runs, CHAINS));
    const bounds = options.bounds ? await measureBounds(bus, audited.sizes) : null;
    return reportOf({
      options,
      driven,
      audit: audited,
      costs,
      stored: { messages: after.messages - before.messages, bytes: after.bytes - before.bytes },
      fsyncs: counted,
      bareMs,
      bounds,
      recovery: options.killEvery === null ? null : recoveryOf(kills, audited.times),
      failures: completions.failures,
    });
  } finally {
    await completions.stop();
    await bus.close();
  }
}

/** All messages that file streams ever stored; a bucket keeps only the last one of a key, but each was stored. */
async function storedNow(bus: Bus): Promise<{ messages: number; bytes: number }> {
  const sum = { messages: 0, bytes: 0 };
  for await (const { config, state } of bus.jsm.streams.list()) {
    if (config.storage !== "file") continue;
    sum.messages += state.last_seq;
    sum.bytes += state.bytes;
  }
  return sum;
}

function progressOf(runs: number): (done: number) => void {
  let last = 0;
  return (done) => {
    process.stderr.write(`  ${done} of ${runs} runs, ${done - last} in the last second\n`);
    last = done;
  };
}
