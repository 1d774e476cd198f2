/** The topology in the words of the server: the configurations of its streams, buckets and consumers. Pure. */
import type { ConsumerConfig, StreamConfig } from "@nats-io/jetstream";
import { limits, READERS, type BucketSpec, type ConsumerSpec, type StreamSpec } from "@antiphon/contracts";

export type WantedStream = Partial<StreamConfig> & { name: string };

const nanos = 1_000_000;

export function streamConfig(spec: StreamSpec): WantedStream {
  return {
    name: spec.name,
    description: spec.purpose,
    subjects: [...spec.subjects],
    retention: spec.retention,
    storage: spec.storage,
    discard: spec.discard,
    allow_direct: spec.allowDirect,
    allow_atomic: spec.allowAtomicPublish,
    ...(spec.allowSchedules === true ? { allow_msg_schedules: true, allow_msg_ttl: true } : {}),
    deny_delete: spec.denyDelete,
    deny_purge: spec.denyPurge,
    max_age: spec.maxAgeMs * nanos,
    max_bytes: spec.maxBytes,
    max_msg_size: spec.maxMessageBytes,
  };
}

/** The layouts of ADR-8 (KV) and ADR-20 (object store), so that the standard tools can read our buckets. */
export function bucketConfig(spec: BucketSpec): WantedStream {
  const kv = spec.kind === "kv";
  return {
    name: kv ? `KV_${spec.name}` : `OBJ_${spec.name}`,
    description: spec.purpose,
    subjects: kv ? [`$KV.${spec.name}.>`] : [`$O.${spec.name}.C.>`, `$O.${spec.name}.M.>`],
    retention: "limits",
    storage: "file",
    discard: "new",
    allow_direct: true,
    allow_atomic: true, // many small documents share one fsync
    allow_rollup_hdrs: spec.rollups,
    deny_delete: kv,
    deny_purge: false,
    max_age: (spec.maxAgeMs ?? 0) * nanos,
    max_bytes: -1,
    max_msg_size: -1,
    max_msgs_per_subject: kv ? spec.history : -1,
  };
}

/** `existing`: the consumer as the server has it. */
export function consumerConfig(
  spec: ConsumerSpec,
  probedLeases: boolean | null,
  existing: Readonly<Record<string, unknown>> | null,
): ConsumerConfig {
  const single = spec.filterSubjects.length === 1;
  return {
    durable_name: spec.name,
    name: spec.name,
    description: spec.purpose,
    ack_policy: "explicit",
    deliver_policy: "all",
    ack_wait: ackWaitOf(spec, probedLeases, existing),
    max_deliver: spec.maxDeliver,
    max_ack_pending: spec.maxAckPending,
    ...(single ? { filter_subject: spec.filterSubjects[0] } : { filter_subjects: [...spec.filterSubjects] }),
    ...(spec.keepsToOne ? { priority_groups: [READERS], priority_policy: "prioritized" } : {}),
  } as unknown as ConsumerConfig;
}

/** In nanoseconds. A service without the setting of the leases keeps what another one has set. */
function ackWaitOf(
  { name, ackWaitMs }: ConsumerSpec,
  probedLeases: boolean | null,
  existing: Readonly<Record<string, unknown>> | null,
): number {
  const probed = limits.probedAckWaitMs * nanos;
  if (name !== "associate") return ackWaitMs * nanos;
  return (probedLeases ?? existing?.["ack_wait"] === probed) ? probed : ackWaitMs * nanos;
}
