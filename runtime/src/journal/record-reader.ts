import type { Doubt, DirectorKey, JournalAddress, StoredRecord } from "@antiphon/contracts";
import {
  AntiphonError,
  HEADERS,
  SIGNED_TYPES,
  decode,
  digestOf,
  isNewerJournalSubject,
  isRecordAt,
  parseJournalSubject,
  parseSignature,
  trustIn,
  validateShape,
} from "@antiphon/contracts";
import { Generations } from "../process/generations.ts";
import type { StoredMessage } from "../nats/direct-answer.ts";
import { RunTraces } from "../tracing/run-traces.ts";
import { noTrust, type Trust } from "./trust.ts";

/**
 * RecordReader: turns a stored message into a record, or says what is wrong with it and where.
 *
 * It checks in this order: on the subject of a decision the signature of a trusted Director over the payload; the
 * payload against its digest header; the encoding; the envelope against the subject; the shape against the contract of
 * its type. Contracts are read tolerantly: a field that a newer writer added passes. A forged decision throws
 * ANT_SIGNATURE_INVALID. A restored record has the sequence and time it had before it was archived.
 *
 * Payloads that passed, and those this process wrote, are remembered by digest, and a record is kept decoded from its
 * second read on. The digest is always computed, so re-reading a run is cheap and still safe. Readers share a
 * record's body, so it is frozen. All of this memory is bounded.
 *
 * Promises:
 *   runtime/J3 Because damaged or missing records would lead to wrong decisions, a read returns all that was
 *     acknowledged before it began, each record with its digest, on its subject and in the shape of its type, or it
 *     fails within its deadline and names a damaged one (ANT_JOURNAL_CORRUPT).
 */
export type RecordMessage = Pick<StoredMessage, "subject" | "seq" | "at" | "data" | "header">;

/** At least this many digests are remembered; one takes some 100 bytes. */
const rememberedDigests = 10_000;
/** At least this many records are kept decoded, none larger than `keptBytes`: a few megabytes in all. */
const keptRecords = 1_000;
const keptBytes = 8 * 1024;
/** At least this many keys of Associates are kept. */
const keptReporters = 256;

export class RecordReader {
  private readonly trust: Trust;
  /** The traces of the runs that were read. */
  readonly traces = new RunTraces();
  /** The signature under which a digest was believed. */
  private readonly believed = new Generations<string>(rememberedDigests);
  /** The signature under which a digest was found to be reported. Apart from decisions: anybody can make such a key. */
  private readonly reported = new Generations<string>(rememberedDigests);
  private readonly reporters = new Generations<Doubt>(keptReporters);
  private readonly right = new Generations<true>(rememberedDigests);
  private readonly decoded = new Generations<StoredRecord>(keptRecords);

  constructor(trust: Trust = noTrust) {
    this.trust = trust;
  }

  /** Why a message on the subject of a decision is forged; null if it is genuine or its subject takes no decisions. */
  doubt(message: Pick<RecordMessage, "subject" | "data" | "header">): string | null {
    const type = parseJournalSubject(message.subject)?.type;
    if (type === undefined || !SIGNED_TYPES.includes(type)) return null;
    return this.doubtOf(message.header(HEADERS.signature), digestOf(message.data));
  }

  /** The same for a digest, to tell a payload damaged after signing from one that was never signed. */
  doubtOf(signature: string, digest: string): string | null {
    if (this.believed.get(digest) === signature) return null;
    const why = this.trust.doubt(signature, digest);
    if (why === null) this.believed.set(digest, signature);
    return why;
  }

  /** Why this key did not sign a report of this digest; null if it did. */
  reportDoubt(key: DirectorKey, signature: string, digest: string): string | null {
    if (parseSignature(signature)?.kid !== key.kid)
      return "the Associate that claimed the attempt did not sign it";
    if (this.reported.get(digest) === signature) return null;
    const why = this.reporterOf(key)(signature, digest);
    if (why === null) this.reported.set(digest, signature);
    return why;
  }

  /** An Associate makes one key and names it in all its claims. Reading it in costs a sixth of a verification. */
  private reporterOf(key: DirectorKey): Doubt {
    const name = `${key.kid} ${key.x}`;
    const known = this.reporters.get(name);
    if (known !== undefined) return known;
    const doubt = trustIn([key]);
    this.reporters.set(name, doubt);
    return doubt;
  }

  /** Why a message is no record of its register; null if it can be read. */
  misfit(message: RecordMessage): string | null {
    const fit = this.fitting(message);
    return typeof fit === "string" ? fit : null;
  }

  /** The record of a message, or why it is none of its register. */
  fitting(message: RecordMessage): StoredRecord | string {
    try {
      return this.read(message);
    } catch (error) {
      if (error instanceof AntiphonError && error.code === "ANT_JOURNAL_CORRUPT") return error.detail;
      throw error;
    }
  }

  read(message: RecordMessage): StoredRecord {
    const { subject, data } = message;
    const digest = digestOf(data);
    const address = parseJournalSubject(subject);
    if (address === null) throw unaddressed(message);
    const claimed = message.header(HEADERS.digest);
    if (SIGNED_TYPES.includes(address.type)) this.requireBelief(message, digest, claimed); // runtime/J14
    if (claimed !== "" && claimed !== digest) throw corrupt(message, "payload does not match its digest"); // runtime/J3
    const known = this.decoded.get(digest);
    const record = known ?? decoded(message);
    if (record === null || typeof record !== "object" || !isRecordAt(record, address)) {
      throw corrupt(message, "envelope does not match its subject"); // runtime/J3
    }
    if (!this.right.has(digest)) {
      this.checkShape(message, record, address);
      this.remember(digest);
    } else if (known === undefined && data.length <= keptBytes) {
      this.decoded.set(digest, frozen(record));
    }
    const stored = storedAt(message, record, digest);
    if (stored.traceparent !== undefined) this.traces.learn(stored.runId, stored.traceparent);
    return stored;
  }

  /** Records that a payload of this digest has the shape of its type, and that this process signed it. */
  remember(digest: string, signature: string | null = null): void {
    this.right.set(digest, true);
    if (signature !== null) this.believed.set(digest, signature);
  }

  private requireBelief(message: RecordMessage, digest: string, claimed: string): void {
    const signature = message.header(HEADERS.signature);
    const why = this.doubtOf(signature, digest);
    if (why === null) return;
    // Damaged after signing. Only the run as a whole shows whether this happened in its own register (forged.ts).
    const wasSigned = claimed !== "" && claimed !== digest && this.doubtOf(signature, claimed) === null;
    if (wasSigned) throw corrupt(message, "payload does not match its digest");
    throw forgedError(message, why);
  }

  private checkShape(message: RecordMessage, record: StoredRecord, { type }: JournalAddress): void {
    const outcome = validateShape(`journal.${type}`, record, "tolerant");
    if (outcome.ok) return;
    const [problem] = outcome.errors;
    throw corrupt(message, `not a ${type} record: ${problem?.path ?? ""} ${problem?.message ?? "invalid"}`); // runtime/J3
  }
}

/**
 * Field by field: spreading an object that the decoder made costs as much as decoding it. The envelope never gains a field,
 * because every reader computes the signed digest from these; a newer writer adds fields to the body.
 */
function storedAt(message: RecordMessage, record: StoredRecord, digest: string): StoredRecord {
  const { v, type, runId, taskId, epoch, cause, body } = record;
  const { seq, at } = placeOf(message);
  const stored = {
    v,
    type,
    runId,
    taskId,
    epoch,
    cause,
    body,
    seq,
    at,
    digest,
    subject: message.subject,
  } as StoredRecord;
  const signature = message.header(HEADERS.signature);
  if (signature !== "") stored.signature = signature;
  const traceparent = message.header(HEADERS.traceparent);
  if (traceparent !== "") stored.traceparent = traceparent;
  const after = message.header(HEADERS.after);
  if (after !== "") stored.after = Number(after);
  return stored;
}

function decoded(message: RecordMessage): StoredRecord {
  try {
    return decode(message.data) as StoredRecord;
  } catch (error) {
    throw corrupt(message, `payload cannot be decoded: ${String(error)}`);
  }
}

/** Freezes a value and everything in it, except bytes, which cannot be frozen. */
function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}

/** Where and when a message was stored first; a restored one keeps its first place. */
export function placeOf(message: Place): FirstPlace {
  const place = firstPlace(message);
  if (place === null) throw corrupt(message, "invalid place: " + message.header(HEADERS.restored));
  return place;
}

type Place = Pick<RecordMessage, "subject" | "seq" | "at" | "header">;
type FirstPlace = { seq: number; at: Date };

/** Null: its header is not one that a restore writes. */
export function firstPlace({ seq, at, header }: Pick<Place, "seq" | "at" | "header">): FirstPlace | null {
  const before = header(HEADERS.restored);
  if (before === "") return { seq, at };
  const [, first = "", time = ""] = /^(\d+):(.+)$/.exec(before) ?? [];
  const place = { seq: Number(first), at: new Date(time) };
  return first === "" || Number.isNaN(place.at.getTime()) ? null : place;
}

export function forgedError({ subject, seq }: { subject: string; seq: number }, why: string): AntiphonError {
  return new AntiphonError("ANT_SIGNATURE_INVALID", `${subject} (seq ${seq}): ${why}`, {
    data: { subject, seq },
  });
}

/** A record type of a newer release is nothing wrong: a service of that release reads the record. */
function unaddressed({ subject, seq }: { subject: string; seq: number }): AntiphonError {
  if (!isNewerJournalSubject(subject)) return corrupt({ subject, seq }, "not a journal subject");
  return new AntiphonError("ANT_JOURNAL_NEWER", `${subject} (seq ${seq})`, { data: { subject, seq } });
}

function corrupt({ subject, seq }: { subject: string; seq: number }, detail: string): AntiphonError {
  return new AntiphonError("ANT_JOURNAL_CORRUPT", `${subject} (seq ${seq}): ${detail}`, {
    data: { subject, seq },
  });
}
