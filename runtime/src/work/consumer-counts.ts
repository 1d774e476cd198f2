import { topologyOf } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";

export interface ConsumerCounts {
  readonly name: string;
  /** Messages that nobody has taken yet. */
  readonly waiting: number;
  /** Messages that were delivered and not acknowledged. */
  readonly inFlight: number;
  /** Of those, the ones that were delivered more than once. */
  readonly redelivered: number;
}

/** The work of each consumer over all partitions, by the server's counts. */
export async function consumerCounts(bus: Bus): Promise<ConsumerCounts[]> {
  const infos = await Promise.all(
    topologyOf(bus.partitions)
      .consumers.filter(({ name }) => !name.startsWith("tally-"))
      .map(({ stream, name }) => bus.jsm.consumers.info(stream, name)),
  );
  const sums = new Map<string, ConsumerCounts>();
  for (const { name, num_pending, num_ack_pending, num_redelivered } of infos) {
    const { waiting, inFlight, redelivered } = sums.get(name) ?? { waiting: 0, inFlight: 0, redelivered: 0 };
    sums.set(name, {
      name,
      waiting: waiting + num_pending,
      inFlight: inFlight + num_ack_pending,
      redelivered: redelivered + num_redelivered,
    });
  }
  return [...sums.values()];
}

export async function countDeadLetters(bus: Bus): Promise<number> {
  return (await bus.jsm.streams.info("ANT_DLQ")).state.messages;
}
