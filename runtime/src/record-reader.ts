import type { JournalAddress, StoredRecord } from "@antiphon/contracts";
import {
  AntiphonError,
  HEADERS,
  decode,
  digestOf,
  parseJournalSubject,
  validateShape,
} from "@antiphon/contracts";
import type { StoredMessage } from "./direct-reader.ts";

/**
 * RecordReader: turns a stored message into a record, or says what is wrong with it and where.
 *
 * Checked, in this order: the payload against its digest header, the subject, the encoding, the envelope
 * against the subject, the shape against the contract of its type. The contract is read tolerantly: a field
 * that a newer writer added passes. A shape that was found right once is remembered by its digest, and so is
 * what this process wrote itself, so a run that is read at each of its records is not checked each time.
 *
 * Invariants:
 *   Y1 What comes out has the digest it was stored under, fits its subject and has the shape of its type.
 *   Y2 What does not is ANT_JOURNAL_CORRUPT with the subject and the stream sequence; nothing else is thrown.
 *   Y3 The memory of what is right is bounded.
 */
export type RecordMessage = Pick<StoredMessage, "subject" | "seq" | "at" | "data" | "header">;

/** Digests remembered; one is some 100 bytes. */
const rememberedDigests = 20_000;

export class RecordReader {
  private readonly right = new Set<string>();

  read(message: RecordMessage): StoredRecord {
    const { subject, seq, at, data } = message;
    const digest = digestOf(data);
    const claimed = message.header(HEADERS.digest);
    if (claimed !== "" && claimed !== digest) throw corrupt(message, "payload does not match its digest"); // Y1
    const address = parseJournalSubject(subject);
    if (address === null) throw corrupt(message, "not a journal subject");
    let record: StoredRecord;
    try {
      record = decode(data) as StoredRecord;
    } catch (error) {
      throw corrupt(message, `payload cannot be decoded: ${String(error)}`);
    }
    if (record === null || typeof record !== "object" || !fits(record, address)) {
      throw corrupt(message, "envelope does not match its subject"); // Y1
    }
    if (!this.right.has(digest)) {
      this.checkShape(message, record, address);
      this.remember(digest);
    }
    const signature = message.header(HEADERS.signature);
    return { ...record, seq, digest, at, subject, ...(signature === "" ? {} : { signature }) };
  }

  /** Says that a payload of this digest has the shape of its type. */
  remember(digest: string): void {
    if (this.right.size >= rememberedDigests) {
      const [oldest] = this.right;
      if (oldest !== undefined) this.right.delete(oldest); // Y3
    }
    this.right.add(digest);
  }

  private checkShape(message: RecordMessage, record: StoredRecord, { type }: JournalAddress): void {
    const outcome = validateShape(`journal.${type}`, record, "tolerant");
    if (outcome.ok) return;
    const [problem] = outcome.errors;
    throw corrupt(message, `not a ${type} record: ${problem?.path ?? ""} ${problem?.message ?? "invalid"}`); // Y2
  }
}

function fits(record: StoredRecord, address: JournalAddress): boolean {
  return (
    record.v === 1 &&
    record.type === address.type &&
    record.runId === address.runId &&
    (record.taskId?.toLowerCase() ?? null) === address.taskId &&
    record.epoch === address.epoch
  );
}

function corrupt({ subject, seq }: { subject: string; seq: number }, detail: string): AntiphonError {
  return new AntiphonError("ANT_JOURNAL_CORRUPT", `${subject} (seq ${seq}): ${detail}`, {
    data: { subject, seq },
  });
}
