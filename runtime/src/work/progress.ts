/**
 * How far the services that share a consumer have come, as the server tells it: one small request a partition. Its
 * answer carries the server's own time, so that an age can be told without a second clock.
 */
import { AntiphonError, journalStream, partitionOf, topologyOf } from "@antiphon/contracts";
import type { ConsumerName } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";

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

/** The server's clock; where the partitions have several leaders, that of the one which is behind. */
export async function serverTime(bus: Bus): Promise<Date> {
  const streams = Array.from({ length: bus.partitions }, (_, partition) => journalStream(partition));
  const infos = await Promise.all(streams.map((name) => bus.jsm.streams.info(name)));
  return new Date(Math.min(...infos.map(({ ts }) => timeOf(ts).getTime())));
}

async function partitionProgress(bus: Bus, stream: string, consumer: string): Promise<Progress> {
  const info = await bus.jsm.consumers.info(stream, consumer);
  // The floor stays at the last record that was handed out; with nothing waiting there is none beyond it.
  const idle = info.num_ack_pending === 0 && info.num_pending === 0;
  return { at: timeOf(info.ts), upTo: idle ? Number.MAX_SAFE_INTEGER : info.ack_floor.stream_seq };
}

function timeOf(ts: string | undefined): Date {
  if (ts === undefined) throw new AntiphonError("ANT_NATS_TOO_OLD", "it does not tell its time");
  return new Date(ts);
}
