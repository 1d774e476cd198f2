/**
 * The least that a run of these records can wait for: its messages, published and consumed one after the other at the rate of the
 * open loop, on the same server, each stored with its fsync before the next one is sent. One process, no work in between.
 */
import { createInbox, type Msg } from "@nats-io/nats-core";
import type { StreamConfig } from "@nats-io/jetstream";
import { uniqueId } from "@antiphon/runtime";
import type { Bus } from "@antiphon/runtime";
import { noHeaders } from "@antiphon/runtime/nats/wire-headers";

const STREAM = "LOAD_CHAIN";

/** Milliseconds from the first publish of each chain to the delivery of its last message. */
export async function measureBareChains(
  bus: Bus,
  sizes: readonly number[],
  rate: number,
  chains: number,
): Promise<number[]> {
  const config = { name: STREAM, subjects: ["load.chain.>"], storage: "file", allow_direct: true };
  await bus.jsm.streams.add(config as unknown as StreamConfig & { name: string });
  const settings = { durable_name: "chains", ack_policy: "explicit", max_ack_pending: 4000 };
  await bus.jsm.consumers.add(STREAM, settings as unknown as Parameters<typeof bus.jsm.consumers.add>[1]);
  const payloads = sizes.map((bytes) => Buffer.alloc(Math.max(1, bytes), 120));
  const startedAt = new Map<string, number>();
  const tookMs: number[] = [];
  let [finish, fail] = [(): void => undefined, (_error: Error): void => undefined];
  const all = new Promise<void>((resolve, reject) => ([finish, fail] = [resolve, reject]));
  const send = async (chain: string, step: number): Promise<void> => {
    const payload = payloads[step % payloads.length] ?? Buffer.alloc(1);
    const stored = await bus.publish({
      ...{ stream: STREAM, subject: `load.chain.${chain}.${step}`, payload, headers: noHeaders },
      ...{ expectLastSubjectSequence: 0, group: true },
    });
    if (stored.kind !== "ok") fail(new Error(`a message of a bare chain was not stored: ${stored.kind}`));
  };
  const receive = (message: Msg): void => {
    message.respond("+ACK");
    const [, , chain = "", step = ""] = message.subject.split(".");
    if (Number(step) + 1 < payloads.length) return void send(chain, Number(step) + 1);
    tookMs.push(performance.now() - (startedAt.get(chain) ?? 0));
    if (tookMs.length === chains) finish();
  };
  const stop = pull(bus, chains * payloads.length, receive);
  const timer = every(1000 / rate, chains, () => {
    const chain = uniqueId();
    startedAt.set(chain, performance.now());
    void send(chain, 0);
  });
  try {
    await all;
  } finally {
    clearInterval(timer);
    stop();
    await bus.jsm.streams.delete(STREAM);
  }
  return tookMs;
}

/** Calls `begin` so many times, at this distance on average. */
function every(distanceMs: number, times: number, begin: () => void): NodeJS.Timeout {
  const from = performance.now();
  let begun = 0;
  const timer = setInterval(() => {
    for (; begun < times && from + begun * distanceMs <= performance.now(); begun += 1) begin();
    if (begun === times) clearInterval(timer);
  }, 1);
  return timer;
}

/** Receives so many messages of the consumer. Returns how to stop. */
function pull(bus: Bus, messages: number, receive: (message: Msg) => void): () => void {
  const inbox = createInbox();
  const subscription = bus.nc.subscribe(inbox, { callback: (_error, message) => receive(message) });
  const request = JSON.stringify({ batch: messages });
  bus.nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${STREAM}.chains`, request, { reply: inbox });
  return () => subscription.unsubscribe();
}
