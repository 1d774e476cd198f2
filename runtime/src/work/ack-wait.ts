import { journalStream, partitionOf, type ConsumerName } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";

/** Milliseconds after which the server delivers a record of this run again, as the consumer is set now. */
export async function ackWaitOf(bus: Bus, consumer: ConsumerName, runId: string): Promise<number> {
  const stream = journalStream(partitionOf(runId, bus.partitions));
  const { config } = await bus.jsm.consumers.info(stream, consumer);
  return (config.ack_wait ?? 0) / 1_000_000;
}
