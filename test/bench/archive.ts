/**
 * Measures the cost of finished runs in the journal, the cost of archiving them, and the cost of what remains afterwards.
 *
 *   npm run bench -- archive [runs, default 5000]
 *
 * This process writes the runs record by record as the services would (each caused by the one before it, sealed), with group
 * commit and fsync; no Router, Director or Associate runs. The Director's projector writes their documents (the view and the
 * contracts), and the Director's archiver archives them, round after round without its pauses. The server's memory is read
 * when it is idle: Go's heap in use (after a collection) and the memory of the process. A server that was busy keeps some of
 * that for good, so at the end it is restarted with the remaining data.
 *
 * It does not measure a run's other data (its intent, evidence in its buckets), or replicas.
 */
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { BUCKETS, journalStream, limits } from "@antiphon/contracts";
import {
  createLogger,
  openJournal,
  openKv,
  openRunArchive,
  provision,
  systemClock,
  uniqueId,
  type Bus,
  type RunArchive,
} from "@antiphon/runtime";
import { finishRun } from "@antiphon/runtime/testing/finished-run";
import { archiveRound } from "../../services/director/src/upkeep/archiver.ts";
import { Projector } from "../../services/director/src/views/projector.ts";
import { RunCache } from "../../services/director/src/runs/run-cache.ts";
import { freePorts, startNats, type NatsServer } from "../support/nats.ts";

const WRITERS = 1_000;
/** Memory is read when it has not shrunk by a fiftieth for this time, or at the latest after a limit. */
const STILL_MS = 40_000;
const KEPT_LATEST_MS = 30_000;
const ARCHIVED_LATEST_MS = 120_000;
const RESTARTED_LATEST_MS = 30_000;
/** Runs count as old a moment after their end. */
const AFTER_MS = -60_000;

const MiB = 1024 * 1024;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

interface Memory {
  /** MiB of heap in use. */
  readonly heap: number;
  /** MiB of process memory. */
  readonly rss: number;
}

export async function run(): Promise<void> {
  const runs = Number(process.argv[3] ?? 5_000);
  if (!Number.isInteger(runs) || runs < 1) throw new Error("the number of runs is a whole number from 1");
  const [profilePort = 0] = await freePorts(1);
  const server = await startNats({ profilePort });
  const memory = (): Promise<Memory> => memoryOf(server, profilePort);
  try {
    const bus = await server.connect();
    await provision(bus);
    const start = await memory();
    say("start", start, server, "streams and buckets made, nothing in them");
    const laidMs = await timed(() => layDown(bus, runs));
    const { state } = await bus.jsm.streams.info(journalStream(0));
    console.log(`${runs} runs, ${state.messages} records laid down in ${seconds(laidMs)}`);
    const kept = await atRest(memory, KEPT_LATEST_MS);
    say("kept", kept, server, `${each(kept.heap - start.heap, state.messages)} bytes of heap a record`);
    await archiveAll(bus, runs);
    const archived = await atRest(memory, ARCHIVED_LATEST_MS);
    const bytes = each(archived.heap - start.heap, runs);
    say("archived", archived, server, `${bytes} bytes of heap a run`);
    console.log(`left: ${await messagesLeft(bus)}`);
    await bus.close();
    await server.stop();
    await server.restart();
    const anew = await atRest(memory, RESTARTED_LATEST_MS);
    say("restarted", anew, server, "with what is left");
    console.log(`\nmemory of the machine, start = 1: ${ratios({ kept, archived, restarted: anew }, start)}`);
  } finally {
    await server.close();
  }
}

const each = (mib: number, count: number): number => Math.round((mib * MiB) / count);

function ratios(at: Record<string, Memory>, start: Memory): string {
  return Object.entries(at)
    .map(([when, { rss }]) => `${when} ${(rss / start.rss).toFixed(2)}`)
    .join(", ");
}

async function layDown(bus: Bus, runs: number): Promise<void> {
  const journal = openJournal(bus);
  const projector = new Projector(
    { runs: openKv(bus, BUCKETS.runs), contracts: openKv(bus, BUCKETS.contracts) },
    () => Promise.reject(new Error("nobody else writes here")),
    createLogger("bench", { level: "silent" }),
  );
  const policy = {
    maxAttempts: limits.maxAttempts,
    maxLapses: limits.maxLapses,
    maxOutages: limits.maxOutages,
    maxIntegrations: 3,
  };
  let next = 0;
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      while (next++ < runs) {
        const runId = `run_${uniqueId()}`;
        const records = await finishRun(journal, runId);
        await projector.project(new RunCache(journal, policy).retold(runId, records));
      }
    }),
  );
  await projector.drain();
}

/** Messages of archived runs: their record in the journal, and the rest in the buckets. */
async function messagesLeft(bus: Bus): Promise<string> {
  const names = [journalStream(0), `KV_${BUCKETS.runs}`, `KV_${BUCKETS.contracts}`, `OBJ_${BUCKETS.archive}`];
  const counts = await Promise.all(
    names.map(async (name) => `${(await bus.jsm.streams.info(name)).state.messages} in ${name}`),
  );
  return counts.join(", ");
}

async function archiveAll(bus: Bus, runs: number): Promise<void> {
  const spent = { due: 0, pack: 0, record: 0, purge: 0 };
  const archive = clocked(openRunArchive(bus, openJournal(bus)), spent);
  const log = createLogger("bench", { level: "silent" });
  const refused = new Set<string>();
  let rounds = 0;
  const ms = await timed(async () => {
    while (await archiveRound({ archive, log, clock: systemClock }, AFTER_MS, refused)) rounds += 1;
  });
  const steps = Object.entries(spent).map(([step, of]) => `${step} ${(of / runs).toFixed(2)}`);
  console.log(
    `archived in ${seconds(ms)}, ${rounds} rounds, ${(ms / runs).toFixed(2)} ms a run (${steps.join(", ")}), ${refused.size} refused`,
  );
}

function clocked(
  archive: RunArchive,
  spent: Record<"due" | "pack" | "record" | "purge", number>,
): RunArchive {
  const timing =
    <A extends unknown[], R>(step: keyof typeof spent, work: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      const startedAt = performance.now();
      try {
        return await work(...given);
      } finally {
        spent[step] += performance.now() - startedAt;
      }
    };
  return {
    due: timing("due", (...given) => archive.due(...given)),
    pack: timing("pack", (...given) => archive.pack(...given)),
    record: timing("record", (...given) => archive.record(...given)),
    purge: timing("purge", (...given) => archive.purge(...given)),
    tidy: (...given) => archive.tidy(...given),
    now: () => archive.now(),
  };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Triggers a collection first. */
async function memoryOf(server: NatsServer, profilePort: number): Promise<Memory> {
  const answer = await fetch(`http://127.0.0.1:${profilePort}/debug/pprof/heap?gc=1&debug=1`);
  const [, bytes] = /^# HeapAlloc = (\d+)$/m.exec(await answer.text()) ?? [];
  const status = readFileSync(`/proc/${server.pid()}/status`, "utf8");
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return { heap: Number(bytes) / MiB, rss: Number(kib) / 1024 };
}

async function atRest(memory: () => Promise<Memory>, latestMs: number): Promise<Memory> {
  const latest = performance.now() + latestMs;
  let least = await memory();
  let since = performance.now();
  while (performance.now() < latest && performance.now() - since < STILL_MS) {
    await systemClock.sleep(5_000);
    const now = await memory();
    if (now.rss >= 0.98 * least.rss) continue;
    least = now;
    since = performance.now();
  }
  return memory();
}

function say(when: string, { heap, rss }: Memory, server: NatsServer, note: string): void {
  const disk = bytesIn(join(server.dir, "store")) / MiB;
  const [inUse, memory, stored] = [heap, rss, disk].map((mib) => `${mib.toFixed(0).padStart(6)} MiB`);
  console.log(`${when.padEnd(9)} ${inUse} heap ${memory} memory ${stored} disk  ${note}`);
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + sizeOf(join(entry.parentPath, entry.name)), 0);
}

/** A block may be removed while it is read. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
