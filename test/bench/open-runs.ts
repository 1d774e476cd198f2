/**
 * Measures the memory that open runs cost: nats-server, router and Director, bundled as they ship, while 1,000 and then
 * 9,000 runs wait for an Associate, each with its intent, its plan and a dispatch. Pages are counted after a collection of
 * garbage, against the same processes after 500 runs, whose code and caches are warm. A gateway admits 10,000 open runs.
 *
 * Each count is taken twice: when the last run has begun to wait, and at rest. Then a Director has swept twice, and a server has
 * dropped the blocks that it wrote last and collected its garbage, which it does every two minutes by itself.
 *
 * Not measured: the records on disk, attempts under way, gateways and the page.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createLogger, type Bus } from "@antiphon/runtime";
import { intentOf, throughJournal, type StartRun } from "../load/intake.ts";
import { readOptions } from "../load/options.ts";
import { startProcesses, type Processes } from "../load/processes.ts";
import { eventually } from "../support/nats.ts";
import { usageOf } from "./process-usage.ts";

const WARM = 500;
const OPEN = [1_000, 9_000] as const;
const WRITERS = 64;
const PATIENCE_MS = 600_000;
const REST_MS = 150_000;
const GOAL_MB = 20;

export async function run(): Promise<void> {
  const options = readOptions([]);
  const processes = await startProcesses(options, { only: ["router", "director-1"] });
  const bus = await processes.connect();
  try {
    const log = createLogger("open-runs", { level: "silent" });
    const start = await throughJournal(bus, log, intentOf(options, null));
    await open(bus, start, 0, WARM);
    const atOnce = await memory(processes);
    await sleep(REST_MS);
    const atRest = await memory(processes);
    const rows = [row("500 (base)", atOnce, atOnce, 1), row("500, at rest (base)", atRest, atRest, 1)];
    for (const runs of OPEN) {
      await open(bus, start, WARM, WARM + runs);
      const more = `${runs.toLocaleString("en")} more`;
      rows.push(row(more, await memory(processes), atOnce, runs / 1000));
      await sleep(REST_MS);
      rows.push(row(`${more}, at rest`, await memory(processes), atRest, runs / 1000));
    }
    console.table(rows);
    for (const { runs, "MB per 1,000": mb } of rows.slice(2))
      console.log(`${runs}: ${mb} MB per 1,000, goal ${GOAL_MB}: ${mb <= GOAL_MB ? "met" : "missed"}`);
  } finally {
    await bus.close();
    await processes.stop();
  }
}

/** Starts runs until there are so many, and waits until each has its dispatch and its Director has nothing left to do. */
async function open(bus: Bus, start: StartRun, from: number, to: number): Promise<void> {
  let next = Math.max(from, await dispatched(bus));
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      while (next < to) {
        next += 1;
        await start();
      }
    }),
  );
  await eventually(`${to} runs wait`, async () => (await dispatched(bus)) >= to, PATIENCE_MS);
}

/** Nobody takes the dispatches. */
async function dispatched(bus: Bus): Promise<number> {
  return (await bus.jsm.consumers.info("ANT_JOURNAL_0", "associate")).num_pending;
}

type Memory = ReadonlyMap<string, { readonly pssMb: number; readonly heapMb: number }>;

async function memory(processes: Processes): Promise<Memory> {
  const found = new Map<string, { pssMb: number; heapMb: number }>();
  for (const [name, pid] of processes.pids()) {
    const heapMb = name.startsWith("nats") ? 0 : await processes.heapMb(name);
    found.set(name, { pssMb: usageOf(pid).pssMb, heapMb });
  }
  return found;
}

type Row = Readonly<Record<string, string | number>> & { readonly "MB per 1,000": number };

function row(runs: string, now: Memory, base: Memory, thousands: number): Row {
  const grown = [...now].map(([name, { pssMb }]) => pssMb - (base.get(name)?.pssMb ?? 0));
  const each: Record<string, number> = {};
  for (const [name, { pssMb, heapMb }] of now) {
    each[`${name} PSS`] = tenth(pssMb);
    if (heapMb > 0) each[`${name} heap`] = tenth(heapMb);
  }
  const all = grown.reduce((sum, mb) => sum + mb, 0);
  return { runs, ...each, "MB per 1,000": tenth(all / thousands) };
}

const tenth = (value: number): number => Math.round(10 * value) / 10;
