import type { StreamConfig } from "@nats-io/jetstream";
import {
  AntiphonError,
  JOURNAL_PARTITIONS,
  TOPOLOGY_VERSION,
  journalStream,
  limits,
} from "@antiphon/contracts";

/**
 * Deployment: the settings that all services of one installation have to agree on.
 *
 * They are stored on the server, with the journal's first stream. A service without a setting adopts the stored one.
 * The number of partitions is fixed when the journal is created: with another number a service would look for a run in
 * the wrong stream, so it does not start. Replicas may grow from 1 to 3; reducing them is left to an operator.
 */
export interface Deployment {
  /** Number of streams that the runs are distributed over, by run id. */
  partitions: number;
  /** Copies of each stream: 1, or 3 or 5 on a cluster. */
  replicas: number;
  /** The ack wait of dispatches is limits.probedAckWaitMs; null: as it is on the server. */
  probedLeases: boolean | null;
}

const partitionsKey = "antiphon.partitions";
const versionKey = "antiphon.topology";

/** The version of the topology that the server has; 0 if it was provisioned before versions were stored. */
export function topologyVersionOf(first: Partial<StreamConfig>): number {
  const version = Number(first.metadata?.[versionKey] ?? 0);
  return Number.isInteger(version) ? version : 0;
}

/** Combines this process's settings with those of the first journal stream (null: there is none yet). */
export function settle(set: Partial<Deployment>, first: Partial<StreamConfig> | null): Deployment {
  const there = first === null ? null : partitionsOf(first);
  if (there !== null && set.partitions !== undefined && set.partitions !== there) {
    throw new AntiphonError(
      "ANT_NATS_PARTITIONS",
      `this service is set to ${set.partitions} journal partitions, but the journal on the server has ${there}`,
      { data: { set: set.partitions, there } },
    );
  }
  return {
    partitions: there ?? set.partitions ?? JOURNAL_PARTITIONS,
    replicas: set.replicas ?? first?.num_replicas ?? 1,
    probedLeases: set.probedLeases ?? null,
  };
}

/** The number of partitions stored with the first stream. A journal older than this setting has one. */
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
  return { [partitionsKey]: String(partitions), [versionKey]: String(TOPOLOGY_VERSION) };
}
