/**
 * The naive twin: a work queue as it is usually written. One message a run on a JetStream work queue, a Msg-Id so that
 * the server drops repeats, the status in a KV bucket, the acknowledgement after the work, the server's default sync.
 * It exists to fail: the rig would find the same faults in Antiphon.
 */
import { jetstream, jetstreamManager, RetentionPolicy, type JetStreamClient } from "@nats-io/jetstream";
import { encode, type JournalRecord } from "@antiphon/contracts";
import { connectBus, createLogger, openKv, type Bus, type Kv } from "@antiphon/runtime";

export const WORK = "NAIVE_WORK";
export const AUDIT = "NAIVE_AUDIT";
/** A message is redelivered after this silence of its worker. */
const ACK_WAIT_MS = 8_000;

export interface Work {
  readonly runId: string;
  readonly intentId: string;
  readonly intent: { goal: string; inputs: Record<string, unknown> };
}

/** The parts of a record that the checker reads. */
export type Audited = Pick<JournalRecord, "type" | "runId" | "taskId" | "epoch"> & { body: unknown };

export interface Store {
  readonly bus: Bus;
  readonly js: JetStreamClient;
  /** `<runId>` to `{status}`. */
  readonly runs: Kv;
  readonly intents: Kv;
  /** Records events for the checker. */
  audit(record: Audited): Promise<void>;
}

export async function openStore(servers: string, name: string): Promise<Store> {
  const log = createLogger(name, { level: "silent" });
  const bus = await connectBus({ servers, name, log, unsafeDurability: true });
  const js = jetstream(bus.nc);
  return {
    bus,
    js,
    runs: openKv(bus, "NAIVE_RUNS"),
    intents: openKv(bus, "NAIVE_INTENTS"),
    async audit(record) {
      await js.publish(`naive.audit.${record.runId}`, encode({ v: 1, cause: null, ...record }), {
        retries: 20,
      });
    },
  };
}

export async function makeStreams(bus: Bus): Promise<void> {
  const jsm = await jetstreamManager(bus.nc);
  await jsm.streams.add({ name: WORK, subjects: ["naive.work.*"], retention: RetentionPolicy.Workqueue });
  await jsm.streams.add({ name: AUDIT, subjects: ["naive.audit.*"], allow_direct: true });
  for (const bucket of ["NAIVE_RUNS", "NAIVE_INTENTS"]) {
    await jsm.streams.add({
      name: `KV_${bucket}`,
      subjects: [`$KV.${bucket}.>`],
      max_msgs_per_subject: 1,
      allow_direct: true,
      allow_rollup_hdrs: true,
    });
  }
  await jsm.consumers.add(WORK, {
    durable_name: "workers",
    ack_policy: "explicit",
    ack_wait: ACK_WAIT_MS * 1_000_000,
  });
}
