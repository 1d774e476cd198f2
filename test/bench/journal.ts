/**
 * Measures appends to the journal with fsync before each acknowledgement, on one server and one client
 * process: one at a time, one fsync per record (pipelined singles), and adaptive group commit at several
 * concurrencies, next to the bound of a bare batch publisher with the same bytes. Then reads and replay, and
 * objects. Rounds of the kinds alternate, so that a noisy neighbour hits all of them.
 *
 * It does not measure more than one client process, replicas, a slow disk, or a stream with millions of runs.
 */
import { openBlobs, openJournal, provision, uniqueId, type Bus } from "@antiphon/runtime";
import type { NewRecord } from "@antiphon/contracts";
import { dispatchRecord } from "@antiphon/contracts/testing/records";
import { startNats, type NatsServer } from "../support/nats.ts";

const ROUNDS = 5;
const PAD = 100;
const BODY = dispatchRecord("run_0", "T-1", 1, PAD).body;

function record(runId: string, index: number): NewRecord {
  return dispatchRecord(runId, `T-${index}`, 1, PAD);
}

const rate = (count: number, ms: number): number => Math.round((count / ms) * 1000);
const median = (values: number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const newRun = (): string => `run_${uniqueId()}`;

function row(label: string, values: number[], unit: string, note = ""): void {
  const spread = `${Math.min(...values).toLocaleString("en")}-${Math.max(...values).toLocaleString("en")}`;
  console.log(
    [
      label.padEnd(46),
      median(values).toLocaleString("en").padStart(9),
      unit.padEnd(8),
      spread.padEnd(18),
      note,
    ].join(" "),
  );
}

/** Makes `total` appends by `writers` loops; each loop waits for its append before the next one. */
async function appends(bus: Bus, writers: number, total: number): Promise<number> {
  const journal = openJournal(bus);
  const runId = newRun();
  let next = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: writers }, async () => {
      while (next < total) await journal.append(record(runId, next++));
    }),
  );
  return rate(total, performance.now() - startedAt);
}

/** The physical bound: the same bytes as bare atomic batches, no digest, no result per record. */
async function bareBatches(bus: Bus, total: number): Promise<number> {
  const { encode } = await import("@antiphon/contracts");
  const { wireHeaders } = await import("@antiphon/runtime/nats/wire-headers");
  const runId = newRun();
  const payload = encode({ v: 1, ...record(runId, 1) });
  const size = 400;
  const startedAt = performance.now();
  const commits: Promise<unknown>[] = [];
  for (let from = 0; from < total; from += size) {
    const id = uniqueId();
    for (let i = 0; i < size; i += 1) {
      const last = i === size - 1;
      const headers = wireHeaders({
        "Nats-Batch-Id": id,
        "Nats-Batch-Sequence": String(i + 1),
        ...(last ? { "Nats-Batch-Commit": "1" } : {}),
      });
      const subject = `antiphon.v1.run.0.dispatch.${runId}.t-${from + i}.1`;
      if (last) commits.push(bus.nc.request(subject, payload, { headers, timeout: 10_000 }));
      else bus.nc.publish(subject, payload, { headers });
    }
    if (commits.length >= 2) await commits.shift();
  }
  await Promise.all(commits);
  return rate(total, performance.now() - startedAt);
}

async function appendRates(server: NatsServer): Promise<void> {
  const grouped = await server.connect();
  const never = {
    batchFrom: Number.MAX_SAFE_INTEGER,
    batchMax: 1,
    batchMaxBytes: 1,
    maxSingles: 400,
    maxBatches: 0,
  };
  const single = await server.connect({ publisher: { group: never } });
  await provision(grouped);
  await appends(grouped, 400, 4000); // warm up
  const kinds: { label: string; note: string; measure: () => Promise<number>; rates: number[] }[] = [
    {
      label: "one writer, one append at a time",
      note: "latency bound",
      measure: () => appends(grouped, 1, 600),
      rates: [],
    },
    {
      label: "one fsync per record, 400 writers",
      note: "group commit off",
      measure: () => appends(single, 400, 6000),
      rates: [],
    },
    { label: "group commit, 20 writers", note: "", measure: () => appends(grouped, 20, 6000), rates: [] },
    { label: "group commit, 400 writers", note: "", measure: () => appends(grouped, 400, 30_000), rates: [] },
    {
      label: "group commit, 4,000 writers",
      note: "",
      measure: () => appends(grouped, 4000, 40_000),
      rates: [],
    },
    {
      label: "bare batches of 400 (bound)",
      note: "no digest, no expectation",
      measure: () => bareBatches(grouped, 40_000),
      rates: [],
    },
  ];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const kind of kinds) kind.rates.push(await kind.measure());
  }
  console.log(
    `\nAppends of ${JSON.stringify(BODY).length}-byte bodies, fsync before each PubAck, ${ROUNDS} rounds (median, range)`,
  );
  for (const kind of kinds) row(kind.label, kind.rates, "rec/s", kind.note);
  const perRecord = median(kinds[1]?.rates ?? []);
  const best = Math.max(median(kinds[3]?.rates ?? []), median(kinds[4]?.rates ?? []));
  const bound = median(kinds[5]?.rates ?? []);
  console.log(
    `group commit = ${(best / perRecord).toFixed(1)}x one fsync per record, ${(best / bound).toFixed(2)} of the bound`,
  );
  const { batches, batched, singles, retried } = grouped.publisherStats();
  console.log(
    `commits: ${batches} batches of ${Math.round(batched / Math.max(1, batches))} on average, ${singles} singles, ${retried} sent again`,
  );
}

async function readRates(server: NatsServer): Promise<void> {
  const bus = await server.connect();
  const journal = openJournal(bus);
  const small = newRun();
  for (let i = 0; i < 8; i += 1) await journal.append(record(small, i));
  const big = newRun();
  await Promise.all(Array.from({ length: 1000 }, (_, i) => journal.append(record(big, i))));
  const timed = async (count: number, body: () => Promise<unknown>): Promise<number[]> => {
    const rates: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const startedAt = performance.now();
      for (let i = 0; i < count; i += 1) await body();
      rates.push(rate(count, performance.now() - startedAt));
    }
    return rates;
  };
  const held = (await bus.jsm.streams.info("ANT_JOURNAL_0")).state.messages;
  console.log(`\nReads from a journal of ${held.toLocaleString("en")} records, one at a time`);
  row("replay a run of 8 records (one request)", await timed(300, () => journal.read(small)), "runs/s");
  row("replay a run of 1,000 records (one request)", await timed(10, () => journal.read(big)), "runs/s");
  row("find one register", await timed(1000, () => journal.find("dispatch", small, "T-1", 1)), "/s");
}

async function blobRates(server: NatsServer): Promise<void> {
  const bus = await server.connect();
  const blobs = openBlobs(bus, "ANT_REPOS");
  const megabytes = 32;
  const puts: number[] = [];
  const gets: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const bytes = Buffer.alloc(megabytes * 1024 * 1024, round + 1);
    let startedAt = performance.now();
    const ref = await blobs.put(null, bytes);
    puts.push(rate(megabytes, performance.now() - startedAt));
    startedAt = performance.now();
    await blobs.get(ref);
    gets.push(rate(megabytes, performance.now() - startedAt));
  }
  console.log(`\nObjects of ${megabytes} MiB, fsync per 128 KiB chunk, digest verified`);
  row("put", puts, "MiB/s");
  row("get", gets, "MiB/s");
}

export async function run(): Promise<void> {
  const server = await startNats();
  try {
    await appendRates(server);
    await readRates(server);
    await blobRates(server);
  } finally {
    await server.close();
  }
}
