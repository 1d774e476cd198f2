/** Stores the records of an imagined run in a journal, so that each names the one that led to it. */
import type { Cause, JournalType, NewRecord, StoredRecord } from "@antiphon/contracts";
import { WORDS_FROM_OUTSIDE } from "@antiphon/contracts";
import type { Journal } from "@antiphon/runtime";
import type { RecordLog } from "@antiphon/run/testing/record-log";

/** The cause of a record: the last record of one of these types, of its own task if it has one. */
const CAUSES: Partial<Record<JournalType, readonly JournalType[]>> = {
  routed: ["intent"],
  dispatch: ["landing", "verdict", "routed"],
  claim: ["dispatch"],
  result: ["claim"],
  verdict: ["result"],
  landing: ["verdict"],
  closed: ["landing", "verdict"],
};

export class CausedRecords {
  readonly journal: Journal;
  readonly stored: StoredRecord[] = [];

  constructor(journal: Journal) {
    this.journal = journal;
  }

  /** Stores the new records of `log`; returns them as the journal has them. */
  async store(log: RecordLog): Promise<StoredRecord[]> {
    const added: StoredRecord[] = [];
    for (const { type, runId, taskId, epoch, body } of log.records.slice(this.stored.length)) {
      const record = { type, runId, taskId, epoch, cause: this.#causeOf(type, taskId), body } as NewRecord;
      const last = this.stored.at(-1)?.seq;
      const isLed = record.cause !== null && last !== undefined;
      const result = await this.journal.append(record, isLed ? { probablyAfter: last } : {});
      if (result.kind !== "appended") throw new Error(`${type} was there before`);
      this.stored.push(result.record);
      added.push(result.record);
    }
    return added;
  }

  #causeOf(type: JournalType, taskId: string | null): Cause | null {
    if (WORDS_FROM_OUTSIDE.includes(type)) return null;
    for (const before of CAUSES[type] ?? []) {
      const own = taskId !== null && type !== "dispatch";
      const cause = this.stored.findLast(
        (record) => record.type === before && (!own || record.taskId === taskId),
      );
      if (cause !== undefined) return { seq: cause.seq, digest: cause.digest };
    }
    return null;
  }
}
