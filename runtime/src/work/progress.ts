/**
 * The progress of the services that share a consumer, as the server reports it: one small request per partition. The
 * answer contains the server's own time, so ages are measured by a single clock.
 */
import { AntiphonError, journalStream, partitionOf, topologyOf } from "@antiphon/contracts";
import type { ConsumerName } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";

export interface Progress {
  /** Time of the answer by the server's clock, as in the journal. */
  readonly at: Date;
  /** Every record of the consumer up to this sequence has been handled. */
  readonly upTo: number;
}

/** By run, because each run belongs to one partition. */
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

/** The server's clock; if several servers lead partitions, that of the slowest clock. */
export async function serverTime(bus: Bus): Promise<Date> {
  const streams = Array.from({ length: bus.partitions }, (_, partition) => journalStream(partition));
  const infos = await Promise.all(streams.map((name) => bus.jsm.streams.info(name)));
  return new Date(Math.min(...infos.map(({ ts }) => timeOf(ts).getTime())));
}

async function partitionProgress(bus: Bus, stream: string, consumer: string): Promise<Progress> {
  const info = await bus.jsm.consumers.info(stream, consumer);
  // The floor stops at the last delivered record; if nothing waits, all records beyond it are handled too.
  const idle = info.num_ack_pending === 0 && info.num_pending === 0;
  return { at: timeOf(info.ts), upTo: idle ? Number.MAX_SAFE_INTEGER : info.ack_floor.stream_seq };
}

function timeOf(ts: string | undefined): Date {
  if (ts === undefined) throw new AntiphonError("ANT_NATS_TOO_OLD", "the server does not report its time");
  return new Date(ts);
}
