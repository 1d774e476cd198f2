import type { StoredRecord } from "@antiphon/contracts";
import { parseJournalSubject, partitionOf } from "@antiphon/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { consume, createLogger, openJournal, provision, uniqueId } from "../../../runtime/src/index.ts";
import type { Bus, Consumption, Journal } from "../../../runtime/src/index.ts";
import { claimRecord, dispatchRecord, intentRecord } from "../../../contracts/src/testing/records.ts";
import { eventually, startNats, type NatsServer } from "../../support/nats.ts";
import { patient } from "../../support/patience.ts";

const log = createLogger("test", { level: "silent" });
let server: NatsServer;
let bus: Bus;
let journal: Journal;

beforeAll(async () => {
  server = await startNats();
  bus = await server.connect();
  await provision(bus, { partitions: 4 });
  journal = openJournal(bus);
});
afterAll(() => server.close());

const newRuns = (count: number): string[] => Array.from({ length: count }, () => `run_${uniqueId()}`);

describe("a journal of four partitions", () => {
  it("the first start fixes their number; another number is refused with a remedy, a missing one adopted", async () => {
    const other = await server.connect();
    await expect(provision(other, { partitions: 2 })).rejects.toMatchObject({
      code: "ANT_NATS_PARTITIONS",
      data: { set: 2, there: 4 },
    });
    await provision(other);
    expect(other.partitions).toBe(4);
    expect((await server.connect()).partitions).toBe(4);
  });

  it("if services start at once with different numbers, one wins and the others are refused", async () => {
    const empty = await startNats();
    try {
      const wishes = [1, 2, 3, 4];
      const buses = await Promise.all(wishes.map(() => empty.connect()));
      const ends = await Promise.allSettled(
        buses.map((one, i) => provision(one, { partitions: wishes[i] ?? 1 })),
      );
      const winners = ends.flatMap((end, i) => (end.status === "fulfilled" ? [wishes[i]] : []));
      const refusals = ends.flatMap((end) => (end.status === "rejected" ? [end.reason as unknown] : []));
      expect(winners).toHaveLength(1);
      for (const refusal of refusals) expect(refusal).toMatchObject({ code: "ANT_NATS_PARTITIONS" });
      expect((await empty.connect()).partitions).toBe(winners[0]);
    } finally {
      await empty.close();
    }
  });

  it("spreads runs, keeps each whole, and reads, finds, tails and lists it in any partition", async () => {
    const runs = newRuns(40);
    await Promise.all(runs.map((runId) => journal.append(intentRecord(runId))));
    await Promise.all(runs.map((runId) => journal.append(claimRecord(runId, "T-1", 1, "as_one"))));
    expect(new Set(runs.map((runId) => partitionOf(runId, 4))).size).toBe(4);
    for (const runId of runs) {
      const records = await journal.read(runId);
      expect(records.map((record) => record.type)).toEqual(["intent", "claim"]);
      for (const { subject } of records)
        expect(parseJournalSubject(subject)?.partition).toBe(partitionOf(runId, 4));
      expect(await journal.find("claim", runId, "T-1", 1)).not.toBeNull();
    }
    expect(await journal.runIds()).toEqual(expect.arrayContaining(runs));
    const stop = new AbortController();
    const seen: StoredRecord[] = [];
    for await (const record of journal.tail(runs[7] ?? "", { signal: stop.signal })) {
      seen.push(record);
      if (seen.length === 2) stop.abort();
    }
    expect(seen.map((record) => record.type)).toEqual(["intent", "claim"]);
  });

  it(
    "runtime/J4: if one of several workers dies, the others take over, in order within each run",
    async () => {
      const runs = newRuns(24);
      const handled = new Map<string, number[]>();
      const doomed = new AbortController();
      const stop = new AbortController();
      const work = async (signal: AbortSignal, dies: boolean): Promise<Consumption> =>
        consume(await server.connect(), {
          consumer: "associate",
          slots: 2,
          log,
          signal,
          handle: ({ record, signal: aborted }) => {
            if (dies) {
              // It takes work, dies, and never answers.
              return new Promise((resolve) =>
                aborted.addEventListener("abort", () =>
                  resolve({ kind: "retry", delayMs: 0, code: "ANT_ASSOCIATE_DRAINING" }),
                ),
              );
            }
            handled.set(record.runId, [...(handled.get(record.runId) ?? []), record.epoch]);
            return Promise.resolve({ kind: "done" });
          },
        });
      const victim = await work(doomed.signal, true);
      for (const epoch of [1, 2, 3]) {
        await Promise.all(runs.map((runId) => journal.append(dispatchRecord(runId, "T-1", epoch))));
        if (epoch === 1) {
          await eventually("the victim holds work", () => victim.busy > 0);
          doomed.abort();
          await eventually("it is gone", () => victim.busy === 0);
          await Promise.all([work(stop.signal, false), work(stop.signal, false)]);
        }
        await eventually(`epoch ${epoch} is done everywhere`, () =>
          runs.every((runId) => handled.get(runId)?.includes(epoch) === true),
        );
      }
      for (const runId of runs) expect([...new Set(handled.get(runId))]).toEqual([1, 2, 3]);
      stop.abort();
    },
    patient(60_000),
  );

  it("a worker with fewer slots than partitions holds no more than its slots", async () => {
    const stop = new AbortController();
    const runs = newRuns(16);
    let [now, most] = [0, 0];
    const done = new Set<string>();
    await Promise.all(runs.map((runId) => journal.append(dispatchRecord(runId, "T-1", 1))));
    const one = consume(await server.connect(), {
      consumer: "associate",
      slots: 1,
      log,
      signal: stop.signal,
      handle: async ({ record }) => {
        now += 1;
        most = Math.max(most, now);
        await journal.append(claimRecord(record.runId, "T-1", 1, "as_one"));
        done.add(record.runId);
        now -= 1;
        return { kind: "done" };
      },
    });
    await eventually("all are done", () => runs.every((runId) => done.has(runId)));
    expect(most).toBe(1);
    await one.drain();
    stop.abort();
  });
});
