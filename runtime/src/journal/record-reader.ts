import type { JournalAddress, StoredRecord } from "@antiphon/contracts";
import {
  AntiphonError,
  HEADERS,
  SIGNED_TYPES,
  decode,
  digestOf,
  isRecordAt,
  parseJournalSubject,
  validateShape,
} from "@antiphon/contracts";
import { Generations } from "../process/generations.ts";
import type { StoredMessage } from "../nats/direct-reader.ts";
import { noTrust, type Trust } from "./trust.ts";

/**
 * RecordReader: turns a stored message into a record, or says what is wrong with it and where.
 *
 * Checked, in this order: on the subject of a decision the signature of a trusted Director over the payload (whatever
 * else the message holds nobody is interested in then); the payload against its digest header, the subject, the encoding,
 * the envelope against the subject, the shape against the contract of its type. The contract is read tolerantly: a field
 * that a newer writer added passes. A shape that was found right once is remembered by its digest, and so is
 * what this process wrote itself; what is read for the second time is kept decoded. So a run that is read at each of its
 * records is not decoded and checked each time: the digest, which always is computed, says that it is the same.
 *
 * Invariants:
 *   Y1 What comes out has the digest it was stored under, fits its subject and has the shape of its type.
 *   Y2 What does not is ANT_JOURNAL_CORRUPT with the subject and the stream sequence; nothing else is thrown.
 *   Y3 The memory of what is right is bounded.
 *   Y4 Two readers of one record share its body, so it is frozen: nobody changes what another one reads.
 *   Y5 A record that was archived and put back has the sequence and the time it had before.
 *   FD4 A decision that no trusted Director signed is no record: `read` throws ANT_SIGNATURE_INVALID. What was verified
 *      once, or signed by this process itself, is remembered by digest and signature.
 */
export type RecordMessage = Pick<StoredMessage, "subject" | "seq" | "at" | "data" | "header">;

/** Digests remembered, at least; one is some 100 bytes. */
const rememberedDigests = 10_000;
/** Records kept decoded, at least, none of more than so many bytes: a few megabytes in all. */
const keptRecords = 1_000;
const keptBytes = 8 * 1024;

export class RecordReader {
  private readonly trust: Trust;
  /** The signature under which a digest was believed. */
  private readonly believed = new Generations<string>(rememberedDigests); // Y3
  private readonly right = new Generations<true>(rememberedDigests); // Y3
  private readonly decoded = new Generations<StoredRecord>(keptRecords); // Y3

  constructor(trust: Trust = noTrust) {
    this.trust = trust;
  }

  /** Why a message on the subject of a decision is none; null: it is one, or its subject is no decision's. */
  doubt(message: Pick<RecordMessage, "subject" | "data" | "header">): string | null {
    const type = parseJournalSubject(message.subject)?.type;
    if (type === undefined || !SIGNED_TYPES.includes(type)) return null;
    return this.doubtOf(message.header(HEADERS.signature), digestOf(message.data));
  }

  /** The same of a digest, so that what was damaged after it was signed can be told from what never was. */
  doubtOf(signature: string, digest: string): string | null {
    if (this.believed.get(digest) === signature) return null;
    const why = this.trust.doubt(signature, digest);
    if (why === null) this.believed.set(digest, signature);
    return why;
  }

  read(message: RecordMessage): StoredRecord {
    const { subject, data } = message;
    const digest = digestOf(data);
    const address = parseJournalSubject(subject);
    if (address === null) throw corrupt(message, "not a journal subject");
    const claimed = message.header(HEADERS.digest);
    if (SIGNED_TYPES.includes(address.type)) this.requireBelief(message, digest, claimed); // FD4
    if (claimed !== "" && claimed !== digest) throw corrupt(message, "payload does not match its digest"); // Y1
    const known = this.decoded.get(digest);
    const record = known ?? decoded(message);
    if (record === null || typeof record !== "object" || !isRecordAt(record, address)) {
      throw corrupt(message, "envelope does not match its subject"); // Y1
    }
    if (!this.right.has(digest)) {
      this.checkShape(message, record, address);
      this.remember(digest);
    } else if (known === undefined && data.length <= keptBytes) {
      this.decoded.set(digest, frozen(record)); // Y4
    }
    const stored = { ...record, ...placeOf(message), digest, subject };
    const signature = message.header(HEADERS.signature);
    if (signature !== "") stored.signature = signature;
    const after = message.header(HEADERS.after);
    if (after !== "") stored.after = Number(after);
    return stored;
  }

  /** Says that a payload of this digest has the shape of its type, and that this process gave it its signature. */
  remember(digest: string, signature: string | null = null): void {
    this.right.set(digest, true);
    if (signature !== null) this.believed.set(digest, signature);
  }

  private requireBelief(message: RecordMessage, digest: string, claimed: string): void {
    const signature = message.header(HEADERS.signature);
    const why = this.doubtOf(signature, digest);
    if (why === null) return;
    // Damaged after it was signed: whether that happened in its own register only the run as a whole tells (forged.ts).
    const wasSigned = claimed !== "" && claimed !== digest && this.doubtOf(signature, claimed) === null;
    if (wasSigned) throw corrupt(message, "payload does not match its digest");
    throw forgedError(message, why);
  }

  private checkShape(message: RecordMessage, record: StoredRecord, { type }: JournalAddress): void {
    const outcome = validateShape(`journal.${type}`, record, "tolerant");
    if (outcome.ok) return;
    const [problem] = outcome.errors;
    throw corrupt(message, `not a ${type} record: ${problem?.path ?? ""} ${problem?.message ?? "invalid"}`); // Y2
  }
}

function decoded(message: RecordMessage): StoredRecord {
  try {
    return decode(message.data) as StoredRecord;
  } catch (error) {
    throw corrupt(message, `payload cannot be decoded: ${String(error)}`);
  }
}

/** The value itself, with all that is in it closed to writes. Bytes cannot be frozen. */
function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

/** Where and when it was stored first: what was archived and put back stands where it stood (Y5). */
export function placeOf(message: Pick<RecordMessage, "subject" | "seq" | "at" | "header">): {
  seq: number;
  at: Date;
} {
  const before = message.header(HEADERS.restored);
  if (before === "") return { seq: message.seq, at: message.at };
  const [, seq = "", at = ""] = /^(\d+):(.+)$/.exec(before) ?? [];
  const place = { seq: Number(seq), at: new Date(at) };
  if (seq === "" || Number.isNaN(place.at.getTime())) throw corrupt(message, "not a place: " + before);
  return place;
}

export function forgedError({ subject, seq }: { subject: string; seq: number }, why: string): AntiphonError {
  return new AntiphonError("ANT_SIGNATURE_INVALID", `${subject} (seq ${seq}): ${why}`, {
    data: { subject, seq },
  });
}

function corrupt({ subject, seq }: { subject: string; seq: number }, detail: string): AntiphonError {
  return new AntiphonError("ANT_JOURNAL_CORRUPT", `${subject} (seq ${seq}): ${detail}`, {
    data: { subject, seq },
  });
}
