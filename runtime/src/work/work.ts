import { setMaxListeners } from "node:events";
import type { Msg } from "@nats-io/nats-core";
import { createInbox } from "@nats-io/nats-core";
import { limits, topologyOf } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { Generations } from "../process/generations.ts";
import { DeliveryHandler, type ConsumeOptions } from "./delivery-handler.ts";
import { Heartbeats } from "./heartbeats.ts";
import { PullLoop } from "./pull-loop.ts";
import { Semaphore } from "./semaphore.ts";

/**
 * Consumes the journal: each record that a durable consumer delivers is handled in a slot (delivery-handler.ts).
 *
 * Lifecycle: running -> draining (no new work, handlers finish) -> stopped (unfinished records are handed back). While
 * a handler works, the server is told so three times per ack wait, so live work is not redelivered.
 */
export interface Consumption {
  /** Records being handled now. */
  readonly busy: number;
  /** Stops pulling and waits for the handlers, at most `deadlineMs` (default limits.drainMs less 5 s). */
  drain(deadlineMs?: number): Promise<void>;
}

/** At least this many returned deliveries are remembered. */
const rememberedReturns = 10_000;

export function consume(bus: Bus, options: ConsumeOptions): Consumption {
  const specs = topologyOf(bus.partitions).consumers.filter((spec) => spec.name === options.consumer);
  const abort = new AbortController();
  setMaxListeners(0, abort.signal); // every delivery and append in flight listens to it
  const slots = Math.max(1, Math.ceil(options.slots / specs.length));
  const semaphore = new Semaphore(options.slots);
  const returned = new Generations<true>(rememberedReturns);
  const handler = new DeliveryHandler(bus, options, returned, abort.signal);
  const loops = specs.map((spec) => {
    const heartbeats = new Heartbeats(options.ackWaitMs ?? spec.ackWaitMs);
    const onMessage = async (message: Msg): Promise<void> => {
      const held = { beat: () => handler.answer(message, "+WPI") };
      heartbeats.hold(held);
      await handler.deliver(message).finally(() => heartbeats.release(held));
    };
    const { stream, keepsToOne } = spec;
    const turn = keepsToOne ? { turn: Math.floor(10 * Math.random()) } : {};
    return new PullLoop(
      bus,
      { stream, consumer: spec.name, slots, semaphore, log: options.log, onMessage, ...turn },
      createInbox(),
    );
  });

  let drained: Promise<void> | null = null;
  const drain = (deadlineMs: number): Promise<void> => {
    drained ??= (async () => {
      for (const loop of loops) loop.stop();
      const deadline = setTimeout(() => abort.abort(), deadlineMs);
      await Promise.all(loops.map((loop) => loop.idleSlots()));
      clearTimeout(deadline);
      for (const loop of loops) loop.close();
      options.signal.removeEventListener("abort", onAbort);
      offDrain();
    })();
    return drained;
  };
  const onAbort = (): void => {
    abort.abort();
    void drain(0);
  };
  const offDrain = bus.onDrain(() => drain(limits.drainMs - 5000));
  options.signal.addEventListener("abort", onAbort, { once: true });
  if (options.signal.aborted) onAbort();

  return {
    get busy() {
      return loops.reduce((sum, loop) => sum + loop.busySlots, 0);
    },
    drain: (deadlineMs = limits.drainMs - 5000) => drain(deadlineMs),
  };
}
