/** Waits until a Director has provisioned the server, for a service whose NATS user may not. */
import { setTimeout as sleep } from "node:timers/promises";
import { AntiphonError, TOPOLOGY_VERSION, journalStream, topologyOf } from "@antiphon/contracts";
import { rightsOf } from "@antiphon/contracts/principals/rights";
import type { Bus } from "../nats/bus.ts";
import { settle, topologyVersionOf, type Deployment } from "./deployment.ts";
import type { ProvisionReport } from "./ensured.ts";
import { bucketConfig, streamConfig } from "./server-config.ts";
import { readConsumer, readStream } from "./server-state.ts";
import { differences } from "./topology-diff.ts";

/** A Director that starts at the same time, or is being upgraded, may take a while. */
const provisionedWithinMs = 60_000;
const lookMs = 100;

/** Compares what this principal may look at with the table. @throws AntiphonError ANT_NATS_TOPOLOGY after a minute. */
export async function untilProvisioned(bus: Bus, set: Partial<Deployment>): Promise<ProvisionReport> {
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
