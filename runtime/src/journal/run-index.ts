import { journalStream, parseJournalSubject, partitionOf, subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { archivedFrom, archivingsOf } from "./archived-runs.ts";
import type { RunPlace } from "./run-page.ts";

/**
 * RunIndex: when each run of the journal began, without the runs that are archived.
 *
 * It is in memory and reads each `intent` once, so a list of 10,000 runs costs what its page costs. It holds as many
 * runs as the journal does.
 */
const PAGE = 512;

export class RunIndex {
  readonly #bus: Bus;
  readonly #places = new Map<string, RunPlace>();
  /** The last sequence of each partition that was looked at. */
  readonly #learned: number[];
  #learning: Promise<readonly number[]> | null = null;

  constructor(bus: Bus) {
    this.#bus = bus;
    this.#learned = Array.from({ length: bus.partitions }, () => 0);
  }

  /** Catches up with the journal and returns the last sequence of each partition. Callers at the same time share it. */
  learn(): Promise<readonly number[]> {
    this.#learning ??= this.#catchUp().finally(() => (this.#learning = null));
    return this.#learning;
  }

  /** The runs that began up to these sequences, one of each partition; in no order. */
  upTo(sequences: readonly number[]): RunPlace[] {
    const { partitions } = this.#bus;
    return [...this.#places.values()].filter(
      ({ runId, seq }) => seq <= (sequences[partitionOf(runId, partitions)] ?? 0),
    );
  }

  async #catchUp(): Promise<readonly number[]> {
    const ends: number[] = [];
    for (let partition = 0; partition < this.#bus.partitions; partition += 1) {
      const { state } = await this.#bus.jsm.streams.info(journalStream(partition));
      const from = (this.#learned[partition] ?? 0) + 1;
      if (state.last_seq >= from) {
        await this.#learnIntents(partition, from);
        for (const { runId } of await archivedFrom(this.#bus, partition, from)) this.#places.delete(runId);
        this.#learned[partition] = state.last_seq;
      }
      ends.push(state.last_seq);
    }
    return ends;
  }

  async #learnIntents(partition: number, from: number): Promise<void> {
    const filter = subjects.partitionType(partition, "intent");
    for (let seq = from; ;) {
      const query = { filter, seq, batch: PAGE };
      const { messages, pending } = await this.#bus.reader.next(journalStream(partition), query);
      const begun = messages.flatMap(({ subject, seq: at, at: time }) => {
        const runId = parseJournalSubject(subject)?.runId;
        return runId === undefined ? [] : [{ runId, seq: at, at: time.getTime() }];
      });
      const ids = begun.map(({ runId }) => runId);
      // A restored run is in the journal again, and is listed with the archive.
      const archived = await archivingsOf(this.#bus, partition, ids);
      for (const place of begun) if (!archived.has(place.runId)) this.#places.set(place.runId, place);
      const last = messages.at(-1);
      if (last === undefined || pending === 0) return;
      seq = last.seq + 1;
    }
  }
}
