import { journalStream, topologyOf } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import type { Meter } from "../service/meter.ts";
import { countOpenRuns } from "./open-runs.ts";

const LETTERS = "ANT_DLQ";

/**
 * The queues and the journal as the server counts them. Several processes may read the same numbers, so one role does it
 * for a deployment: the gateway.
 */
export function measureQueues(meter: Meter, bus: Bus): void {
  const read: Meter["read"] = (name, readings) => meter.read(name, () => (bus.connected ? readings() : []));
  const consumers = async () => {
    const infos = await Promise.all(
      topologyOf(bus.partitions).consumers.map(({ stream, name }) => bus.jsm.consumers.info(stream, name)),
    );
    return infos.filter(({ name }) => !name.startsWith("tally-"));
  };
  const byConsumer = async (of: "num_pending" | "num_ack_pending" | "num_redelivered") => {
    const sums = new Map<string, number>();
    for (const info of await consumers()) sums.set(info.name, (sums.get(info.name) ?? 0) + info[of]);
    return [...sums].map(([consumer, value]) => ({ labels: { consumer }, value }));
  };
  read("antiphon_consumer_pending_messages", () => byConsumer("num_pending"));
  read("antiphon_consumer_unacknowledged_messages", () => byConsumer("num_ack_pending"));
  read("antiphon_consumer_redelivered_messages", () => byConsumer("num_redelivered"));

  const one = (value: number) => [{ labels: {}, value }];
  read("antiphon_open_runs", async () => one(await countOpenRuns(bus)));
  read("antiphon_dead_letters", async () => {
    const { state } = await bus.jsm.streams.info(LETTERS);
    return one(state.messages);
  });
  const journal = async (of: "bytes" | "messages") => {
    const names = Array.from({ length: bus.partitions }, (_, partition) => journalStream(partition));
    const infos = await Promise.all(names.map((name) => bus.jsm.streams.info(name)));
    return one(infos.reduce((sum, { state }) => sum + state[of], 0));
  };
  read("antiphon_journal_bytes", () => journal("bytes"));
  read("antiphon_journal_records", () => journal("messages"));
}
