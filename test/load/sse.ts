/**
 * `npm run load -- sse`: many clients follow runs over server-sent events, through a gateway of its own process. Some of them
 * lose their connection again and again and resume. It prints the gateway's memory each minute, and at the end what each
 * client should have got and did not, or got twice. Exit code 1 for a gap, a duplicate, or memory that grows.
 *
 * The clients of a room follow one run after the other. Each has an address of 127.0.1.0/24 and is one of several people,
 * because a gateway limits the streams of each.
 */
import { setMaxListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { openJournal, type Journal } from "@antiphon/runtime";
import { closedRecord, dispatchRecord, intentRecord } from "@antiphon/contracts/testing/records";
import { limits, type NewRecord } from "@antiphon/contracts";
import { CommandLine } from "../support/command-line.ts";
import { ProcessMeter } from "./meters.ts";
import { readOptions } from "./options.ts";
import { startProcesses, type Processes } from "./processes.ts";
import { SseClient, type Followed, type Place } from "./sse-client.ts";

const ROOM = 50;
/** A gateway may learn that a connection is gone after its client is back, so not all places are used. */
const PER_ADDRESS = Math.floor(limits.sseClientsPerAddress * 0.75);
const RECORDS = 60;
const SAMPLE_MS = 60_000;
/** Heap may move this much while nothing grows. */
const SLACK_MB = 8;

const line = new CommandLine(`
usage: npm run load -- sse [options]

  --clients 1000          clients, up to ${limits.sseClients}
  --minutes 3             how long; 60 for an hour
  --rate 1                records of each run in a second
  --drop 60               each client loses its connection after this many seconds, on average

Exit 1 for a gap, a duplicate, or memory that grows.
`);

interface Sample {
  readonly minute: number;
  readonly rssMb: number;
  readonly heapMb: number;
}

export async function soak(args: readonly string[]): Promise<boolean> {
  const values = line.read(
    {
      clients: { type: "string", default: "1000" },
      minutes: { type: "string", default: "3" },
      rate: { type: "string", default: "1" },
      drop: { type: "string", default: "60" },
    },
    [...args],
  );
  const clients = line.whole("clients", values.clients, limits.sseClients);
  const minutes = line.positive("minutes", values.minutes);
  const rate = line.positive("rate", values.rate, 1_000);
  const dropMs = line.positive("drop", values.drop) * 1_000;
  const people = Array.from(
    { length: Math.ceil(clients / limits.sseClientsPerPrincipal) },
    (_, at) => `person${at}:secret-of-person-number-${at}`,
  );
  // No Router and no Director: this program alone writes the records, so it knows what each client should get.
  const processes = await startProcesses(readOptions(["--via", "gateway", "--no-bounds"]), {
    only: ["gateway"],
    env: {
      ANTIPHON_TOKEN: "token-of-this-deployment",
      ANTIPHON_TOKENS: people.join(","),
      ANTIPHON_TRUSTED_KEYS: "",
      ANTIPHON_UNSAFE_TRUST: "1",
    },
  });
  try {
    const tokens = people.map((person) => person.split(":")[1] ?? "");
    return await measure(processes, { clients, minutes, rate, dropMs, tokens });
  } finally {
    await processes.stop();
  }
}

interface Order {
  readonly clients: number;
  readonly minutes: number;
  readonly rate: number;
  readonly dropMs: number;
  readonly tokens: readonly string[];
}

async function measure(processes: Processes, order: Order): Promise<boolean> {
  const { clients, minutes, tokens, dropMs } = order;
  const bus = await processes.connect();
  const end = new AbortController();
  setMaxListeners(0, end.signal); // one of each room's pauses
  const rooms = Array.from({ length: Math.ceil(clients / ROOM) }, () => new Room(openJournal(bus)));
  const place = (at: number): Place => ({
    url: processes.gatewayUrl ?? "",
    address: `127.0.1.${1 + Math.floor(at / PER_ADDRESS)}`,
    token: tokens[at % tokens.length] ?? "",
  });
  const all = Array.from({ length: clients }, (_, at) => new SseClient(place(at), dropMs));
  const writing = rooms.map((room) => room.write(order.rate, end.signal));
  const reading = all.map((client, at) => client.followAll(() => rooms[Math.floor(at / ROOM)]?.current()));
  const samples: Sample[] = [];
  const since = performance.now();
  console.log("minute   RSS, MiB   heap after GC, MiB   events   resumed");
  for (let at = 0; at <= minutes; at += 1) {
    if (at > 0) await pause(SAMPLE_MS);
    samples.push(await sample(processes, at));
    const { rssMb, heapMb } = samples[at] ?? { rssMb: 0, heapMb: 0 };
    const sums = [sum(all, "events"), sum(all, "resumed")].map((value) => String(value).padStart(9));
    console.log(
      `${String(at).padStart(6)}${rssMb.toFixed(0).padStart(11)}${heapMb.toFixed(1).padStart(21)}${sums.join(" ")}`,
    );
  }
  end.abort();
  await Promise.all(writing);
  await Promise.all(reading);
  await bus.close();
  const seconds = (performance.now() - since) / 1000;
  const [gaps, twice, faults, lost] = [
    sum(all, "gaps"),
    sum(all, "twice"),
    sum(all, "faults"),
    sum(all, "lost"),
  ];
  const statuses = [...new Set(all.flatMap(({ refusals }) => refusals))].join(", ");
  console.log(
    `${clients} clients, ${sum(all, "runs")} runs followed to their end, ${Math.round(sum(all, "events") / seconds)} events/s; ` +
      `gaps ${gaps}, duplicates ${twice}, connections without an answer ${lost}, refused or out of order ${faults}${statuses === "" ? "" : ` (${statuses})`}`,
  );
  const grown = growth(samples);
  console.log(`heap after GC: ${grown.toFixed(1)} MiB more at the end than after the first quarter`);
  return gaps === 0 && twice === 0 && faults === 0 && grown < SLACK_MB;
}

async function sample(processes: Processes, minute: number): Promise<Sample> {
  const heapMb = await processes.heapMb("gateway");
  const meter = new ProcessMeter(() => processes.pids());
  const gateway = meter.costs().find(({ name }) => name === "gateway");
  return { minute, heapMb, rssMb: gateway?.rssMb ?? 0 };
}

function growth(samples: readonly Sample[]): number {
  const [first, last] = [samples[Math.max(1, Math.floor(samples.length / 4))], samples.at(-1)];
  return (last?.heapMb ?? 0) - (first?.heapMb ?? 0);
}

function sum(
  clients: readonly SseClient[],
  what: "events" | "resumed" | "gaps" | "twice" | "faults" | "lost" | "runs",
): number {
  return clients.reduce((total, client) => total + client[what], 0);
}

/** Its run gets one record after the other; then comes the next run. The last one is closed when `signal` fires. */
class Room {
  readonly #journal: Journal;
  readonly #runs: Followed[] = [];
  #over = false;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** The run that is written now; "wait": there is none yet, undefined: there will be no other one. */
  current(): Followed | "wait" | undefined {
    const run = this.#runs.at(-1);
    if (run?.closed === true) return this.#over ? undefined : "wait";
    return run ?? "wait";
  }

  async write(rate: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const runId = `run_${Math.random().toString(36).slice(2, 14)}`;
      const run: Followed = { runId, sequences: [], closed: false };
      await this.#append(run, intentRecord(runId));
      this.#runs.splice(0, this.#runs.length, run);
      for (let at = 1; at <= RECORDS && !signal.aborted; at += 1) {
        await pause(1_000 / rate, undefined, { signal }).catch(() => undefined);
        await this.#append(run, dispatchRecord(runId, `T-${String(at).padStart(3, "0")}`, 1));
      }
      this.#over = signal.aborted;
      await this.#append(run, closedRecord(runId));
      run.closed = true;
    }
    this.#over = true;
  }

  async #append(run: Followed, record: NewRecord): Promise<void> {
    const outcome = await this.#journal.append(record);
    if (outcome.kind !== "appended") throw new Error(`${run.runId}: ${outcome.kind}`);
    run.sequences.push(outcome.record.seq);
  }
}
