import type { ArchivedMessage, StoredRecord } from "@antiphon/contracts";
import { BUCKETS, HEADERS, STORAGE_TYPES, parseJournalSubject, subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import type { StoredMessage } from "../nats/direct-answer.ts";
import { PackStore, type ArchivedRecord } from "../archive/pack-store.ts";
import { journalStreamOf, nextMessages, runMessages } from "./run-messages.ts";

/**
 * RunHistory: the records of a run, wherever they are: in the journal, in a pack, or partly in both because an archiver
 * or a restore was interrupted.
 *
 * A record in the pack is read from the pack, and records that only the journal holds are added. The records that say
 * where a run is stored (`archived`, `restored`) are not part of its history. Reading costs nothing extra for a run
 * that is not archived; a run that is restored, or of which nothing was purged yet, does not need its pack.
 *
 * Because readers should not notice the archive, a run reads the same before, during and after it is archived and restored:
 * the same records with the same sequences, times, digests and signatures, in the same order (runtime/J10).
 */

export interface RunPart {
  readonly records: readonly StoredRecord[];
  readonly goesOn: boolean;
}

export class RunHistory {
  private readonly bus: Bus;
  private readonly packs: PackStore;

  constructor(bus: Bus) {
    this.bus = bus;
    this.packs = new PackStore(bus);
  }

  /** The run's records from a sequence on. */
  async records(runId: string, fromSeq = 0): Promise<StoredRecord[]> {
    return this.recordsOf(await runMessages(this.bus, runId, fromSeq), fromSeq);
  }

  /**
   * The run's next records from a sequence on; of a long run some of them, and then it goes on. `isLong`: the part before went
   * on.
   */
  async next(runId: string, fromSeq: number, isLong: boolean): Promise<RunPart> {
    const { messages, goesOn } = await nextMessages(this.bus, runId, fromSeq, isLong);
    if (!goesOn) return { records: await this.recordsOf(messages, fromSeq), goesOn };
    // A run's last records say whether it is archived. They are read after this page, so nothing was purged before it.
    if ((await this.archived(runId)) !== null)
      return { records: await this.records(runId, fromSeq), goesOn: false }; // runtime/J10
    return { records: messages.map((message) => this.bus.records.read(message)), goesOn };
  }

  private async recordsOf(messages: readonly StoredMessage[], fromSeq: number): Promise<StoredRecord[]> {
    const live = messages.map((message) => this.bus.records.read(message));
    const own = live.filter(({ type }) => !STORAGE_TYPES.includes(type)); // runtime/J10
    const archived = latestArchived(live);
    const all =
      archived === null || isWhole(archived, live, messages) ? own : await this.merge(archived, own);
    return all.filter(({ seq }) => seq >= fromSeq).sort((a, b) => a.seq - b.seq); // runtime/J10
  }

  /** A register from the pack of an archived run; null if the run is not archived. */
  async archivedRegister(runId: string, subject: string): Promise<StoredRecord | null> {
    const archived = await this.archived(runId);
    const entry = archived === null ? null : await this.packs.entry(archived);
    const message = entry?.records.find((record) => record.subject === subject);
    return message === undefined ? null : believedRecordOf(this.bus, message);
  }

  private async archived(runId: string): Promise<ArchivedRecord | null> {
    const filter = subjects.runTypeInPartition(runId, "archived", this.bus.partitions);
    const messages = await this.bus.reader.multiLast(journalStreamOf(this.bus, runId), [filter]);
    return latestArchived(messages.map((message) => this.bus.records.read(message)));
  }

  private async merge(archived: ArchivedRecord, own: readonly StoredRecord[]): Promise<StoredRecord[]> {
    const entry = await this.packs.entry(archived);
    const bySubject = new Map(own.map((record) => [record.subject, record]));
    for (const message of entry.records) {
      const record = believedRecordOf(this.bus, message);
      if (record !== null) bySubject.set(message.subject, record); // runtime/J10
    }
    return [...bySubject.values()];
  }
}

/** Null: a forged decision, which counts for nothing in a pack either. */
function believedRecordOf(bus: Bus, message: ArchivedMessage): StoredRecord | null {
  const { subject, seq, data, headers } = message;
  const why = bus.records.doubt({ subject, data, header: (name) => headers[name] ?? "" });
  if (why === null) return recordOf(bus, message); // runtime/J14
  bus.forged.alarm({ subject, seq }, why, BUCKETS.archive);
  return null;
}

/** The record of an archived message, as it read in the journal. */
export function recordOf(bus: Bus, message: ArchivedMessage): StoredRecord {
  const { subject, seq, at, data, headers } = message;
  return bus.records.read({ subject, seq, at: new Date(at), data, header: (name) => headers[name] ?? "" });
}

export function latestArchived(records: readonly StoredRecord[]): ArchivedRecord | null {
  const all = records.filter((record): record is ArchivedRecord => record.type === "archived");
  return all.sort((a, b) => a.epoch - b.epoch).at(-1) ?? null;
}

/** True if all records of the pack were put back, or none was purged yet (a purge deletes the `intent` first). */
export function isWhole(
  archived: ArchivedRecord,
  live: readonly StoredRecord[],
  messages: readonly StoredMessage[],
): boolean {
  if (!live.some(({ type, epoch }) => type === "restored" && epoch === archived.epoch)) {
    const own = live.filter(({ type }) => !STORAGE_TYPES.includes(type));
    return own.some(({ type }) => type === "intent") && own.length >= archived.body.records;
  }
  const back = messages.filter((message) => {
    const type = parseJournalSubject(message.subject)?.type;
    return message.header(HEADERS.restored) !== "" && type !== undefined && !STORAGE_TYPES.includes(type);
  });
  return back.length >= archived.body.records;
}
