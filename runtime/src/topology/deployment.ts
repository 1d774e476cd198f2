import type { StreamConfig } from "@nats-io/jetstream";
import { AntiphonError, JOURNAL_PARTITIONS, journalStream, limits } from "@antiphon/contracts";

/**
 * Deployment: what all services of one installation have to agree on, and where that is written down.
 *
 * The journal's first stream carries it on the server, so a service without a setting adopts what is there,
 * and one with another setting than its fellows is refused before it writes anything.
 *
 * Invariants:
 *   N1 The number of partitions is fixed when the journal is made: another one would look for a run where it
 *      is not. A service that is set to another number does not start.
 *   N2 Replicas may grow (1 to 3); fewer than there are takes a human.
 */
export interface Deployment {
  /** Streams the journal is spread over, by run id. */
  partitions: number;
  /** Copies of each stream: 1, or 3 or 5 on a cluster. */
  replicas: number;
}

const partitionsKey = "antiphon.partitions";

/** What is set for this process, against what the first journal stream says (null: there is none yet). */
export function settle(set: Partial<Deployment>, first: Partial<StreamConfig> | null): Deployment {
  const there = first === null ? null : partitionsOf(first);
  if (there !== null && set.partitions !== undefined && set.partitions !== there) {
    throw new AntiphonError(
      "ANT_NATS_PARTITIONS", // N1
      `this service is set to ${set.partitions} journal partitions, the journal on the server has ${there}`,
      { data: { set: set.partitions, there } },
    );
  }
  return {
    partitions: there ?? set.partitions ?? JOURNAL_PARTITIONS,
    replicas: set.replicas ?? first?.num_replicas ?? 1,
  };
}

/** The partitions of a journal by its first stream's configuration. One made before there was a choice has one. */
export function partitionsOf(first: Partial<StreamConfig>): number {
  const written = first.metadata?.[partitionsKey];
  if (written === undefined) return JOURNAL_PARTITIONS;
  const partitions = Number(written);
  if (Number.isInteger(partitions) && partitions >= 1 && partitions <= limits.journalPartitions) {
    return partitions;
  }
  throw new AntiphonError("ANT_NATS_TOPOLOGY", `${journalStream(0)} says ${written} partitions`);
}

export function writtenDown({ partitions }: Pick<Deployment, "partitions">): Record<string, string> {
  return { [partitionsKey]: String(partitions) };
}
