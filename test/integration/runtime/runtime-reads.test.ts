/** Reads of stored messages (direct-reader.ts) and the leader's word about them (stream-leader.ts), on a real server. */
import type { JetStreamManager } from "@nats-io/jetstream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Bus, Journal } from "../../../runtime/src/index.ts";
import { openJournal, provision } from "../../../runtime/src/index.ts";
import { StreamLeader } from "../../../runtime/src/nats/stream-leader.ts";
import { claimRecord, intentRecord } from "../../../contracts/src/testing/records.ts";
import type { NatsServer } from "../../support/nats.ts";
import { eventually, startNats } from "../../support/nats.ts";

const STREAM = "ANT_JOURNAL_0";
const OF_RUN = ["antiphon.v1.run.0.*.run_read.>"];

let server: NatsServer;
let bus: Bus;
let journal: Journal;

beforeEach(async () => {
  server = await startNats();
  bus = await server.connect();
  await provision(bus);
  journal = openJournal(bus);
  await journal.append(intentRecord("run_read"));
});
afterEach(() => server.close());

describe("reading stored messages", () => {
  /** Each way to read, with a deadline on the whole call. */
  const reads = (deadlineMs: number): readonly Promise<unknown>[] => [
    bus.reader.last(STREAM, "antiphon.v1.run.0.intent.run_read.-.0", deadlineMs),
    bus.reader.multiLast(STREAM, OF_RUN, 0, deadlineMs),
    bus.reader.next(STREAM, { filter: OF_RUN[0] ?? "", seq: 1, batch: 8 }, deadlineMs),
  ];

  it("D1 every read ends with a code, within its deadline, where a server stands still", async () => {
    server.pause();
    try {
      for (const deadlineMs of [300, 1_500]) {
        const startedAt = performance.now();
        const ends = await Promise.allSettled(reads(deadlineMs));
        const tookMs = performance.now() - startedAt;
        for (const end of ends)
          expect(end).toMatchObject({ status: "rejected", reason: { code: "ANT_NATS_UNREACHABLE" } });
        expect(tookMs).toBeGreaterThanOrEqual(deadlineMs - 1);
        expect(tookMs).toBeLessThan(deadlineMs + 1_000);
      }
    } finally {
      server.resume();
    }
    for (const found of await Promise.all(reads(10_000))) expect(found).not.toBeNull();
  });

  it("D1 a silence is not waited out to the call's own deadline: it is asked again, and the read ends well", async () => {
    server.pause();
    const reading = Promise.all(reads(15_000));
    const timer = setTimeout(() => server.resume(), 1_000); // the fault itself: a second of silence
    const startedAt = performance.now();
    const [last, all, next] = (await reading) as [{ seq: number }, unknown[], { messages: unknown[] }];
    clearTimeout(timer);
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    expect([last.seq, all.length, next.messages.length]).toEqual([1, 1, 1]);
  });

  it("D1 every read ends where the server is gone, and with the bus", async () => {
    await server.kill();
    await eventually("the bus has noticed", () => !bus.connected);
    for (const end of await Promise.allSettled(reads(200)))
      expect(end).toMatchObject({ reason: { code: "ANT_NATS_UNREACHABLE" } });
    const waiting = Promise.allSettled(reads(60_000));
    await bus.close();
    for (const end of await waiting) expect(end).toMatchObject({ reason: { code: "ANT_NATS_UNREACHABLE" } });
    await server.restart();
  });

  it("D2 a thousand reads, also of nothing and of those that failed, leave nothing on the server", async () => {
    await Promise.all(reads(5_000)); // the reply inbox is there from the first on
    const before = await server.subscriptions();
    server.pause();
    await Promise.allSettled(reads(150));
    server.resume();
    for (let round = 0; round < 200; round += 1) {
      await Promise.all([
        ...reads(10_000),
        bus.reader.last(STREAM, "antiphon.v1.run.0.intent.run_none.-.0"),
        bus.reader.multiLast(STREAM, ["antiphon.v1.run.0.*.run_none.>"]),
      ]);
    }
    expect(await server.subscriptions()).toBe(before);
    expect(await server.leakedConsumers()).toEqual([]);
    const { state } = await bus.jsm.streams.info(STREAM);
    expect(state.consumer_count).toBe((await durablesOf(bus)).length);
  });
});

async function durablesOf(on: Bus): Promise<string[]> {
  const names: string[] = [];
  for await (const { config } of on.jsm.consumers.list(STREAM))
    if (config.durable_name !== undefined) names.push(config.durable_name);
  return names;
}

describe("the leader's last sequence", () => {
  it("G6 is never from before the question, and those who wait together share one answer", async () => {
    let asked = 0;
    const counting = {
      streams: {
        info: (stream: string) => {
          asked += 1;
          return bus.jsm.streams.info(stream);
        },
      },
    } as unknown as JetStreamManager;
    const leader = new StreamLeader(counting);
    let questions = 0;
    const stale: [number, number][] = [];
    /** Writes, then asks many at once what there is; whoever asks knows of what it wrote itself. */
    const writer = async (name: string): Promise<void> => {
      for (let n = 1; n <= 40; n += 1) {
        const result = await journal.append(claimRecord("run_read", `${name}-${n}`, 1, "as_one"));
        if (result.kind !== "appended") throw new Error(result.kind);
        const { seq } = result.record;
        const answers = await Promise.all(Array.from({ length: 5 }, () => leader.lastSeq(STREAM)));
        questions += answers.length;
        for (const answer of answers) if (answer < seq) stale.push([seq, answer]);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, i) => writer(`T-${i}`)));
    expect(stale).toEqual([]);
    expect(questions).toBe(1_600);
    expect(asked).toBeLessThan(questions / 2);
  });

  it("G6 a question that fails is not the answer of the next", async () => {
    const leader = new StreamLeader(bus.jsm);
    await expect(leader.lastSeq("ANT_NOT_THERE")).rejects.toThrow();
    const [first, second] = await Promise.allSettled([
      leader.lastSeq("ANT_NOT_THERE"),
      leader.lastSeq(STREAM),
    ]);
    expect([first.status, second.status]).toEqual(["rejected", "fulfilled"]);
  });
});
