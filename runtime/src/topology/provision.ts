import { setTimeout as sleep } from "node:timers/promises";
import type { ConsumerConfig, StreamConfig } from "@nats-io/jetstream";
import {
  AntiphonError,
  READERS,
  TOPOLOGY_VERSION,
  journalStream,
  limits,
  topologyOf,
} from "@antiphon/contracts";
import type { BucketSpec, ConsumerSpec, Principal, StreamSpec } from "@antiphon/contracts";
import { rightsOf } from "@antiphon/contracts/principals/rights";
import type { Bus } from "../nats/bus.ts";
import { differences, refusesToLoosen } from "./topology-diff.ts";
import { settle, topologyVersionOf, writtenDown, type Deployment } from "./deployment.ts";

/**
 * Makes the server match contracts/src/topology/topology.ts: creates missing streams and consumers, updates different
 * ones, and leaves everything else alone. Any number of processes may run it at once and at every start.
 *
 * A server that a newer release has provisioned keeps that release's settings: only what is missing is created, so that an
 * older service can start beside newer ones and after a roll-back.
 *
 * It reads back the result, so an option that the server ignored is an error at once. It never loosens a stream (file
 * to memory, discard new to old, a shorter retention); that is left to an operator.
 */
export interface ProvisionReport {
  created: string[];
  updated: string[];
  unchanged: number;
}

/**
 * `set`: this service's settings; missing ones are adopted from the server. A service whose NATS user may not provision
 * waits until a Director has done it.
 */
export async function provision(bus: Bus, set: Partial<Deployment> = {}): Promise<ProvisionReport> {
  if (!mayProvision(bus.principal)) return untilProvisioned(bus, set);
  const report: ProvisionReport = { created: [], updated: [], unchanged: 0 };
  const deployment = await agree(bus, set, report);
  const stored = await readStream(bus, journalStream(0));
  const there = stored === null ? 0 : topologyVersionOf(stored);
  const ensure = { report, keeps: there > TOPOLOGY_VERSION };
  const { streams, buckets, consumers } = topologyOf(deployment.partitions);
  const wanted = [...streams.map(streamConfig), ...buckets.map(bucketConfig)];
  await inOrder(wanted, (config) =>
    ensureStream(bus, { ...config, num_replicas: deployment.replicas }, ensure),
  );
  await inOrder(consumers, (spec) => ensureConsumer(bus, spec, ensure, deployment.probedLeases));
  if (there < TOPOLOGY_VERSION) await writeVersion(bus, deployment);
  bus.adopt(deployment.partitions);
  return report;
}

/** Last, so that the version on the server is that of a complete topology. */
async function writeVersion(bus: Bus, deployment: Deployment): Promise<void> {
  const name = journalStream(0);
  const stored = await readStream(bus, name);
  if (stored === null) throw new AntiphonError("ANT_NATS_TOPOLOGY", `${name} is gone`);
  const metadata = { ...stored.metadata, ...writtenDown(deployment) };
  await bus.jsm.streams.update(name, { ...stored, metadata });
}

/** `keeps`: the server has a newer release's settings, which stay. */
interface Ensure {
  readonly report: ProvisionReport;
  readonly keeps: boolean;
}

const mayProvision = (principal: Principal | null): boolean =>
  principal === null || principal === "director" || principal === "admin";

/** A Director that starts at the same time, or is being upgraded, may take a while. */
const provisionedWithinMs = 60_000;
const lookMs = 100;

/** Compares what this principal may look at with the table. @throws AntiphonError ANT_NATS_TOPOLOGY after a minute. */
async function untilProvisioned(bus: Bus, set: Partial<Deployment>): Promise<ProvisionReport> {
  const until = performance.now() + provisionedWithinMs;
  for (;;) {
    const first = await readStream(bus, journalStream(0));
    const missing =
      first === null
        ? [journalStream(0)]
        : await missingFor(bus, settle(set, first).partitions, topologyVersionOf(first) > TOPOLOGY_VERSION);
    if (first !== null && missing.length === 0) {
      bus.adopt(settle(set, first).partitions);
      return { created: [], updated: [], unchanged: 0 };
    }
    if (performance.now() > until) {
      const detail = `no Director has provisioned ${missing.join(", ")} on the server`;
      throw new AntiphonError("ANT_NATS_TOPOLOGY", detail, { data: { missing } });
    }
    await sleep(lookMs);
  }
}

/** The streams and consumers that are missing or (unless `keeps`) different, of those that this principal may look at. */
async function missingFor(bus: Bus, partitions: number, keeps: boolean): Promise<string[]> {
  const { principal } = bus;
  if (principal === null || principal === "admin") return [];
  const asked = new Set(rightsOf(principal, partitions).asks.map(({ subject }) => subject));
  const { streams, buckets, consumers } = topologyOf(partitions);
  const missing: string[] = [];
  for (const wanted of [...streams.map(streamConfig), ...buckets.map(bucketConfig)]) {
    if (!asked.has(`$JS.API.STREAM.INFO.${wanted.name}`)) continue;
    const stored = await readStream(bus, wanted.name);
    if (stored === null || (!keeps && differences(wanted, stored).length > 0)) missing.push(wanted.name);
  }
  for (const spec of consumers) {
    if (!asked.has(`$JS.API.CONSUMER.INFO.${spec.stream}.${spec.name}`)) continue;
    if ((await readConsumer(bus, spec)) === null) missing.push(`${spec.stream} > ${spec.name}`);
  }
  return missing;
}

/** If services start at once with different settings, the journal's first stream decides. */
async function agree(bus: Bus, set: Partial<Deployment>, report: ProvisionReport): Promise<Deployment> {
  const name = journalStream(0);
  const first = await readStream(bus, name);
  if (first !== null) return settle(set, first);
  const deployment = settle(set, null);
  const spec = topologyOf(deployment.partitions).streams.find((stream) => stream.name === name);
  if (spec === undefined) throw new AntiphonError("ANT_INTERNAL", `the topology has no ${name}`);
  const config = {
    ...streamConfig(spec),
    num_replicas: deployment.replicas,
    metadata: writtenDown(deployment),
  };
  try {
    await bus.jsm.streams.add(config);
    report.created.push(name);
  } catch (error) {
    const other = await readStream(bus, name); // Another service was faster, with other settings.
    if (other === null) throw error;
    return settle(set, other);
  }
  return deployment;
}

async function inOrder<T>(items: readonly T[], step: (item: T) => Promise<void>): Promise<void> {
  for (const item of items) await step(item);
}

type WantedStream = Partial<StreamConfig> & { name: string };

const nanos = 1_000_000;

function streamConfig(spec: StreamSpec): WantedStream {
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
function bucketConfig(spec: BucketSpec): WantedStream {
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

async function ensureStream(bus: Bus, wanted: WantedStream, { report, keeps }: Ensure): Promise<void> {
  const existing = await readStream(bus, wanted.name);
  if (existing === null) {
    await bus.jsm.streams.add(wanted);
    report.created.push(wanted.name);
  } else {
    const changes = differences(wanted, existing);
    if (changes.length === 0 || keeps) {
      report.unchanged += 1;
      return;
    }
    const loosened = refusesToLoosen(wanted, existing); // runtime/J7
    if (loosened.length > 0) {
      throw new AntiphonError(
        "ANT_NATS_TOPOLOGY",
        `stream ${wanted.name} exists with stronger guarantees: ${loosened.join(", ")}`,
        { data: { stream: wanted.name, fields: loosened } },
      );
    }
    await bus.jsm.streams.update(wanted.name, { ...existing, ...wanted });
    report.updated.push(wanted.name);
  }
  const stored = await readStream(bus, wanted.name);
  const ignored = stored === null ? ["all"] : differences(wanted, stored); // runtime/J7
  if (ignored.length > 0) {
    throw new AntiphonError(
      "ANT_NATS_TOPOLOGY",
      `the server did not keep these options of stream ${wanted.name}: ${ignored.join(", ")}`,
      { data: { stream: wanted.name, fields: ignored } },
    );
  }
}

async function readStream(bus: Bus, name: string): Promise<(StreamConfig & Record<string, unknown>) | null> {
  try {
    const info = await bus.jsm.streams.info(name);
    return { ...info.config };
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

async function ensureConsumer(
  bus: Bus,
  spec: ConsumerSpec,
  { report, keeps }: Ensure,
  probedLeases: boolean | null,
): Promise<void> {
  const name = `${spec.stream} > ${spec.name}`;
  const single = spec.filterSubjects.length === 1;
  const existing = await readConsumer(bus, spec);
  const wanted = {
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
  if (existing === null) {
    // Creating the same consumer twice with the same settings has no effect, so processes may start at the same time.
    await bus.jsm.consumers.add(spec.stream, wanted);
    report.created.push(name);
    return;
  }
  if (keeps || differences(wanted, existing).length === 0) {
    report.unchanged += 1;
    return;
  }
  await bus.jsm.consumers.update(spec.stream, spec.name, wanted);
  report.updated.push(name);
}

/** In nanoseconds. A service without the setting of the leases keeps what another one has set. */
function ackWaitOf(
  { name, ackWaitMs }: ConsumerSpec,
  probedLeases: boolean | null,
  existing: Record<string, unknown> | null,
): number {
  const probed = limits.probedAckWaitMs * nanos;
  if (name !== "associate") return ackWaitMs * nanos;
  return (probedLeases ?? existing?.["ack_wait"] === probed) ? probed : ackWaitMs * nanos;
}

async function readConsumer(bus: Bus, spec: ConsumerSpec): Promise<Record<string, unknown> | null> {
  try {
    const info = await bus.jsm.consumers.info(spec.stream, spec.name);
    return info.config;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

function isNotFound(error: unknown): boolean {
  const status = (error as { status?: number }).status;
  const code = (error as { code?: number }).code;
  return status === 404 || code === 10059 || code === 10014;
}
