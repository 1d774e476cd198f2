/** Tests reads of stored messages (direct-reader.ts) and of the leader's state (stream-leader.ts) on a real server. */
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
  /** Each kind of read, with a deadline on the whole call. */
  const reads = (deadlineMs: number): readonly Promise<unknown>[] => [
    bus.reader.last(STREAM, "antiphon.v1.run.0.intent.run_read.-.0", deadlineMs),
    bus.reader.multiLast(STREAM, OF_RUN, 0, deadlineMs),
    bus.reader.next(STREAM, { filter: OF_RUN[0] ?? "", seq: 1, batch: 8 }, deadlineMs),
  ];

  it("runtime/J3: every read from a suspended server ends with a code within its deadline", async () => {
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

  it("repeats a request after a short silence, so the read succeeds before its deadline", async () => {
    server.pause();
    const reading = Promise.all(reads(15_000));
    const timer = setTimeout(() => server.resume(), 1_000); // the fault under test: a second of silence
    const startedAt = performance.now();
    const [last, all, next] = (await reading) as [{ seq: number }, unknown[], { messages: unknown[] }];
    clearTimeout(timer);
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    expect([last.seq, all.length, next.messages.length]).toEqual([1, 1, 1]);
  });

  it("every read ends when the server is gone, and when the bus closes", async () => {
    await server.kill();
    await eventually("the bus has noticed", () => !bus.connected);
    for (const end of await Promise.allSettled(reads(200)))
      expect(end).toMatchObject({ reason: { code: "ANT_NATS_UNREACHABLE" } });
    const waiting = Promise.allSettled(reads(60_000));
    await bus.close();
    for (const end of await waiting) expect(end).toMatchObject({ reason: { code: "ANT_NATS_UNREACHABLE" } });
    await server.restart();
  });

  it("a thousand reads, including empty and failed ones, leave nothing on the server", async () => {
    await Promise.all(reads(5_000)); // the reply inbox exists from the start
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
  it("is never older than the question, and waiting callers share one answer", async () => {
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
    /** Writes, then asks many times at once; every answer must include the caller's own write. */
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

  it("a failed question does not answer the next one", async () => {
    const leader = new StreamLeader(bus.jsm);
    await expect(leader.lastSeq("ANT_NOT_THERE")).rejects.toThrow();
    const [first, second] = await Promise.allSettled([
      leader.lastSeq("ANT_NOT_THERE"),
      leader.lastSeq(STREAM),
    ]);
    expect([first.status, second.status]).toEqual(["rejected", "fulfilled"]);
  });
});
