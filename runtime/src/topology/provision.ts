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
import {
  AntiphonError,
  TOPOLOGY_VERSION,
  journalStream,
  topologyOf,
  type Principal,
} from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { settle, topologyVersionOf, writtenDown, type Deployment } from "./deployment.ts";
import { ensureConsumer, ensureStream, type ProvisionReport } from "./ensured.ts";
import { bucketConfig, streamConfig } from "./server-config.ts";
import { readStream } from "./server-state.ts";
import { untilProvisioned } from "./wait-for-topology.ts";

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

const mayProvision = (principal: Principal | null): boolean =>
  principal === null || principal === "director" || principal === "admin";

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
