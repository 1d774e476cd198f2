/** Provisions the model like the real server, from contracts/src/topology/topology.ts. */
import { limits, topology } from "@antiphon/contracts";
import type { JetStreamModel } from "../server/jetstream-model.ts";

const DUPLICATE_WINDOW_MS = 120_000;

/** `probedLeases`: as with ANTIPHON_PROBED_LEASES=on. */
export function provisionModel(jetstream: JetStreamModel, probedLeases: boolean): void {
  for (const spec of topology.streams) {
    jetstream.addStream({
      name: spec.name,
      subjects: spec.subjects,
      maxBytes: spec.maxBytes,
      maxMessageBytes: spec.maxMessageBytes,
      maxPerSubject: -1,
      discard: spec.discard,
      allowAtomic: spec.allowAtomicPublish,
      allowSchedules: (spec as { allowSchedules?: boolean }).allowSchedules === true,
      duplicateWindowMs: DUPLICATE_WINDOW_MS,
    });
  }
  for (const spec of topology.buckets) {
    if (spec.kind !== "kv") continue;
    jetstream.addStream({
      name: `KV_${spec.name}`,
      subjects: [`$KV.${spec.name}.>`],
      maxBytes: -1,
      maxMessageBytes: -1,
      maxPerSubject: spec.history,
      discard: "new",
      allowAtomic: false,
      allowSchedules: false,
      duplicateWindowMs: DUPLICATE_WINDOW_MS,
    });
  }
  for (const spec of topology.consumers) {
    jetstream.addConsumer(spec.stream, {
      name: spec.name,
      filters: spec.filterSubjects,
      ackWaitMs: probedLeases && spec.name === "associate" ? limits.probedAckWaitMs : spec.ackWaitMs,
      maxDeliver: spec.maxDeliver,
      maxAckPending: spec.maxAckPending,
    });
  }
}
