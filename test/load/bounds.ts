/**
 * Measures the server's limits with the bytes of the run, right after it on the same server: one fsync per
 * message, and the bare bound (atomic batches of 400 without expectation, digest or envelope, a consumer that
 * acknowledges all of it).
 */
import { createInbox, type Msg } from "@nats-io/nats-core";
import type { StreamConfig } from "@nats-io/jetstream";
import { uniqueId } from "@antiphon/runtime";
import type { Bus } from "@antiphon/runtime";
import { noHeaders, wireHeaders } from "@antiphon/runtime/nats/wire-headers";

export interface Bounds {
  /** Messages a second, medians. */
  readonly singles: number;
  readonly batches: number;
  readonly batchesConsumed: number;
}

const STREAM = "LOAD_BOUND";
const BATCH = 400;
const ROUNDS = 3;
const IN_FLIGHT = 400;

export async function measureBounds(bus: Bus, sizes: readonly number[]): Promise<Bounds> {
  const config = {
    name: STREAM,
    subjects: ["load.bound.>"],
    storage: "file",
    allow_direct: true,
    allow_atomic: true,
  };
  await bus.jsm.streams.add(config as unknown as StreamConfig & { name: string });
  const payloads = sizes.map((bytes) => Buffer.alloc(Math.max(1, bytes), 120));
  const rounds = { singles: [] as number[], batches: [] as number[], batchesConsumed: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.singles.push(await singles(bus, payloads, 6000));
    rounds.batches.push(await batches(bus, payloads, 20_000));
    rounds.batchesConsumed.push(await consumed(bus, payloads, 20_000));
  }
  await bus.jsm.streams.delete(STREAM);
  return {
    singles: median(rounds.singles),
    batches: median(rounds.batches),
    batchesConsumed: median(rounds.batchesConsumed),
  };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const perSecond = (count: number, sinceMs: number): number => (count / (performance.now() - sinceMs)) * 1000;

async function singles(bus: Bus, payloads: readonly Buffer[], total: number): Promise<number> {
  const startedAt = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < total; i = next++) {
      const payload = payloads[i % payloads.length] ?? Buffer.alloc(1);
      await bus.publish({
        stream: `${STREAM}_SINGLE_${i % IN_FLIGHT}`, // a lane of its own: nothing is grouped
        subject: `load.bound.s.${uniqueId()}`,
        payload,
        headers: noHeaders,
        expectLastSubjectSequence: 0,
        group: false,
      });
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return perSecond(total, startedAt);
}

async function batches(bus: Bus, payloads: readonly Buffer[], total: number): Promise<number> {
  const startedAt = performance.now();
  const commits: Promise<unknown>[] = [];
  for (let from = 0; from < total; from += BATCH) {
    const id = uniqueId();
    for (let i = 0; i < BATCH; i += 1) {
      const last = i === BATCH - 1;
      const headers = wireHeaders({
        "Nats-Batch-Id": id,
        "Nats-Batch-Sequence": String(i + 1),
        ...(last ? { "Nats-Batch-Commit": "1" } : {}),
      });
      const payload = payloads[(from + i) % payloads.length] ?? Buffer.alloc(1);
      const subject = `load.bound.b.${id}.${i}`;
      if (last) commits.push(bus.nc.request(subject, payload, { headers, timeout: 10_000 }));
      else bus.nc.publish(subject, payload, { headers });
    }
    if (commits.length >= 2) await commits.shift();
  }
  await Promise.all(commits);
  return perSecond(total, startedAt);
}

/** Published and consumed at the same time, each message acknowledged. */
async function consumed(bus: Bus, payloads: readonly Buffer[], total: number): Promise<number> {
  const name = `bound_${uniqueId()}`;
  const settings = {
    durable_name: name,
    ack_policy: "explicit",
    deliver_policy: "new",
    max_ack_pending: 4000,
  };
  await bus.jsm.consumers.add(STREAM, settings as unknown as Parameters<typeof bus.jsm.consumers.add>[1]);
  const startedAt = performance.now();
  let seen = 0;
  const all = new Promise<void>((resolve) => {
    const inbox = createInbox();
    const ask = (batch: number): void =>
      bus.nc.publish(
        `$JS.API.CONSUMER.MSG.NEXT.${STREAM}.${name}`,
        JSON.stringify({ batch, expires: 3e10 }),
        {
          reply: inbox,
        },
      );
    const subscription = bus.nc.subscribe(inbox, {
      callback: (_error, message: Msg) => {
        if (message.reply === undefined || message.reply === "") return;
        bus.nc.publish(message.reply, "+ACK");
        seen += 1;
        if (seen % BATCH === 0) ask(BATCH);
        if (seen < total) return;
        subscription.unsubscribe();
        resolve();
      },
    });
    ask(4 * BATCH);
  });
  await batches(bus, payloads, total);
  await all;
  const rate = perSecond(total, startedAt);
  await bus.jsm.consumers.delete(STREAM, name);
  return rate;
}
