/**
 * Measures how long a Director takes to be ready with many open runs: one real process, started as in production, with a
 * real nats-server that fsyncs. Each run has its intent, its plan and its first dispatch, and is paused, so three deliveries
 * of each wait for the Director and no work results. It starts without runs first, and then with all of them. It also
 * measures the time until every delivery was handled, and the memory used.
 *
 * It starts from TypeScript sources, which the shipped bundle does not have to translate. It does not measure
 * replicas, a server on another machine, or runs of more than four records.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { journalStream } from "@antiphon/contracts";
import { openJournal, provision, type Bus } from "@antiphon/runtime";
import { openRun } from "@antiphon/runtime/testing/finished-run";
import { eventually, startNats } from "../support/nats.ts";

const OPEN_RUNS = 10_000;
const WRITERS = 200;
const STARTS = 3;
const GOAL_MS = 5_000;

const DIRECTOR = fileURLToPath(new URL("../support/director-process.ts", import.meta.url));

export async function run(): Promise<void> {
  const nats = await startNats();
  try {
    const bus = await nats.connect();
    await provision(bus);
    const none = await starts(bus, nats.url);
    tell("no open run", none);
    await writeOpenRuns(bus);
    const all = await starts(bus, nats.url);
    tell(`${OPEN_RUNS.toLocaleString("en")} open runs`, all);
    const worst = Math.max(...all.map(({ readyMs }) => readyMs));
    console.log(
      `goal: ready within ${GOAL_MS} ms; worst ${worst} ms: ${worst <= GOAL_MS ? "met" : "missed"}`,
    );
  } finally {
    await nats.close();
  }
}

async function writeOpenRuns(bus: Bus): Promise<void> {
  const journal = openJournal(bus);
  const startedAt = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      while (next < OPEN_RUNS) {
        const runId = `run_cold${next++}`;
        await openRun(journal, runId);
        const pause = { kind: "pause", by: "bench" } as const;
        await journal.append({ type: "control", runId, taskId: null, epoch: 1, cause: null, body: pause });
      }
    }),
  );
  console.log(`${OPEN_RUNS} runs written in ${Math.round((performance.now() - startedAt) / 1000)} s`);
}

interface ColdStart {
  readyMs: number;
  /** Null: no delivery waited. */
  caughtUpMs: number | null;
  rssMiB: number;
}

/** Each start is a new process; only the first one finds deliveries that were never handled. */
async function starts(bus: Bus, natsUrl: string): Promise<ColdStart[]> {
  const found: ColdStart[] = [];
  for (let i = 0; i < STARTS; i += 1) found.push(await coldStart(bus, natsUrl));
  return found;
}

async function coldStart(bus: Bus, natsUrl: string): Promise<ColdStart> {
  const waiting = await left(bus);
  const startedAt = performance.now();
  const director = fork(DIRECTOR, [], {
    execArgv: ["--import", "tsx"],
    env: {
      ...process.env,
      ANTIPHON_NATS_URL: natsUrl,
      ANTIPHON_UNSAFE_TRUST: "1",
      ANTIPHON_LOG_LEVEL: "error",
    },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await once(director, "message"); // Its only message says that it is ready.
  const readyMs = Math.round(performance.now() - startedAt);
  if (waiting > 0)
    await eventually("all deliveries are handled", async () => (await left(bus)) === 0, 170_000);
  const caughtUpMs = waiting === 0 ? null : Math.round(performance.now() - startedAt);
  const rss = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${director.pid}/status`, "utf8"))?.[1];
  const ended = once(director, "exit");
  director.kill("SIGTERM");
  await ended;
  return { readyMs, caughtUpMs, rssMiB: Math.round(Number(rss) / 1024) };
}

async function left(bus: Bus): Promise<number> {
  const info = await bus.jsm.consumers.info(journalStream(0), "director");
  return info.num_pending + info.num_ack_pending;
}

function tell(what: string, found: readonly ColdStart[]): void {
  const numbers = (pick: (one: ColdStart) => number | null): string =>
    found.map((one) => pick(one)?.toLocaleString("en") ?? "-").join(" ");
  console.log(
    `${what.padEnd(18)} ready ms: ${numbers((one) => one.readyMs).padEnd(22)} ` +
      `caught up ms: ${numbers((one) => one.caughtUpMs).padEnd(22)} MiB: ${numbers((one) => one.rssMiB)}`,
  );
}
