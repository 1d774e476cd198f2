/** Runs the same program against the real server and the model; both have to answer alike. */
import { installAmbient } from "../ambient.ts";
import { Chance } from "../chance.ts";
import { SimNode } from "../node.ts";
import { Broker } from "../server/broker.ts";
import { SimConnection } from "../server/connection.ts";
import { Timeline } from "../timeline.ts";
import type { Bus } from "../../../runtime/src/index.ts";
import { Probe } from "./probe.ts";

export interface StreamShape {
  name: string;
  maxBytes?: number;
  maxMessageBytes?: number;
  perSubject?: number;
  atomic?: boolean;
  schedules?: boolean;
  consumers?: readonly ConsumerShape[];
}

export interface ConsumerShape {
  name: string;
  filters?: readonly string[];
  ackWaitMs?: number;
  maxAckPending?: number;
  maxDeliver?: number;
}

export type Program = (probe: Probe) => Promise<void>;

const ACK_WAIT_MS = 30_000;
const NANOS = 1_000_000;
const subjectsOf = (shape: StreamShape): string[] => [`${shape.name.toLowerCase()}.>`];

/** The server does not let a stream with schedules refuse new messages. */
const discardOf = (shape: StreamShape): "new" | "old" => (shape.schedules === true ? "old" : "new");

/** Creates the stream on a real server and runs the program against it. */
export async function onServer(bus: Bus, shape: StreamShape, program: Program): Promise<string[]> {
  const { name } = shape;
  await bus.jsm.streams.add({
    name,
    subjects: subjectsOf(shape),
    storage: "file",
    retention: "limits",
    discard: discardOf(shape),
    allow_direct: true,
    allow_atomic: shape.atomic !== false,
    max_bytes: shape.maxBytes ?? -1,
    max_msg_size: shape.maxMessageBytes ?? -1,
    max_msgs_per_subject: shape.perSubject ?? -1,
    ...(shape.schedules === true ? { allow_msg_schedules: true } : {}),
  });
  for (const consumer of shape.consumers ?? []) {
    await bus.jsm.consumers.add(name, {
      durable_name: consumer.name,
      ack_policy: "explicit",
      filter_subjects: [...(consumer.filters ?? subjectsOf(shape))],
      ack_wait: (consumer.ackWaitMs ?? ACK_WAIT_MS) * NANOS,
      max_ack_pending: consumer.maxAckPending ?? -1,
      max_deliver: consumer.maxDeliver ?? -1,
    });
  }
  const probe = new Probe(bus.nc);
  await program(probe);
  await bus.jsm.streams.delete(name);
  return probe.said;
}

/** Runs the program against the model, in virtual time. */
export function onModel(shape: StreamShape, program: Program): Promise<string[]> {
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      try {
        resolve(simulate(shape, program));
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
}

function simulate(shape: StreamShape, program: Program): string[] {
  const timeline = new Timeline();
  const chance = new Chance(1);
  const broker = new Broker(timeline, chance);
  broker.jetstream.addStream({
    name: shape.name,
    subjects: subjectsOf(shape),
    maxBytes: shape.maxBytes ?? -1,
    maxMessageBytes: shape.maxMessageBytes ?? -1,
    maxPerSubject: shape.perSubject ?? -1,
    discard: discardOf(shape),
    allowAtomic: shape.atomic !== false,
    allowSchedules: shape.schedules === true,
    duplicateWindowMs: 120_000,
  });
  for (const consumer of shape.consumers ?? []) {
    broker.jetstream.addConsumer(shape.name, {
      name: consumer.name,
      filters: consumer.filters ?? subjectsOf(shape),
      ackWaitMs: consumer.ackWaitMs ?? ACK_WAIT_MS,
      maxAckPending: consumer.maxAckPending ?? -1,
      maxDeliver: consumer.maxDeliver ?? -1,
    });
  }
  const node = new SimNode("probe", "client", timeline, chance);
  const probe = new Probe(new SimConnection(broker, node).asClient());
  let ending: { error: unknown } | null = null;
  timeline.after(0, node, () => {
    program(probe).then(
      () => (ending = { error: null }),
      (error: unknown) => (ending = { error }),
    );
  });
  const remove = installAmbient(timeline, chance);
  try {
    timeline.run(600_000, () => ending !== null);
  } finally {
    remove();
  }
  const { error } = (ending ?? { error: new Error(`the program hangs after: ${probe.said.at(-1)}`) }) as {
    error: unknown;
  };
  if (error !== null)
    throw error instanceof Error ? error : new Error("the program threw no error", { cause: error });
  return probe.said;
}
