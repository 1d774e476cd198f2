/**
 * How far the services that share a consumer have come, as the server tells it: one small request a partition. Its
 * answer carries the server's own time, so that an age can be told without a second clock.
 */
import { AntiphonError, partitionOf, topologyOf } from "@antiphon/contracts";
import type { ConsumerName } from "@antiphon/contracts";
import type { Bus } from "./bus.ts";

export interface Progress {
  /** When the server said so: its clock, as in the journal. */
  readonly at: Date;
  /** Every record up to this sequence that the consumer hears has been handled. */
  readonly upTo: number;
}

/** By run, because runs lie in partitions. */
export type ProgressOf = (runId: string) => Progress;

export async function progressOf(bus: Bus, consumer: ConsumerName): Promise<ProgressOf> {
  const specs = topologyOf(bus.partitions).consumers.filter((spec) => spec.name === consumer);
  const found = await Promise.all(specs.map(({ stream }) => partitionProgress(bus, stream, consumer)));
  return (runId) => {
    const progress = found[partitionOf(runId, bus.partitions)];
    if (progress !== undefined) return progress;
    throw new AntiphonError("ANT_INTERNAL", `no partition for ${runId}`);
  };
}

async function partitionProgress(bus: Bus, stream: string, consumer: string): Promise<Progress> {
  const info = await bus.jsm.consumers.info(stream, consumer);
  if (info.ts === undefined) throw new AntiphonError("ANT_NATS_TOO_OLD", "it does not tell its time");
  // The floor stays at the last record that was handed out; with nothing waiting there is none beyond it.
  const idle = info.num_ack_pending === 0 && info.num_pending === 0;
  return { at: new Date(info.ts), upTo: idle ? Number.MAX_SAFE_INTEGER : info.ack_floor.stream_seq };
}
