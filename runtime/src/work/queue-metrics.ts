import { journalStream } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import type { Meter } from "../service/meter.ts";
import { consumerCounts, countDeadLetters } from "./consumer-counts.ts";
import { countOpenRuns } from "./open-runs.ts";

/**
 * The queues and the journal as the server counts them. Several processes may read the same numbers, so one role does it
 * for a deployment: the gateway.
 */
export function measureQueues(meter: Meter, bus: Bus): void {
  const read: Meter["read"] = (name, readings) => meter.read(name, () => (bus.connected ? readings() : []));
  const byConsumer = async (of: "waiting" | "inFlight" | "redelivered") =>
    (await consumerCounts(bus)).map((counts) => ({ labels: { consumer: counts.name }, value: counts[of] }));
  read("antiphon_consumer_pending_messages", () => byConsumer("waiting"));
  read("antiphon_consumer_unacknowledged_messages", () => byConsumer("inFlight"));
  read("antiphon_consumer_redelivered_messages", () => byConsumer("redelivered"));

  const one = (value: number) => [{ labels: {}, value }];
  read("antiphon_open_runs", async () => one(await countOpenRuns(bus)));
  read("antiphon_dead_letters", async () => one(await countDeadLetters(bus)));
  const journal = async (of: "bytes" | "messages") => {
    const names = Array.from({ length: bus.partitions }, (_, partition) => journalStream(partition));
    const infos = await Promise.all(names.map((name) => bus.jsm.streams.info(name)));
    return one(infos.reduce((sum, { state }) => sum + state[of], 0));
  };
  read("antiphon_journal_bytes", () => journal("bytes"));
  read("antiphon_journal_records", () => journal("messages"));
}
