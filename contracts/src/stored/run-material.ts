/**
 * The material for checking a run: its stored messages, unparsed. They cross HTTP in this form, so that the checker
 * computes every digest itself.
 */
import { decode } from "../wire/codec.ts";
import { HEADERS } from "../wire/headers.ts";
import type { StoredRecord } from "../journal/record.ts";
import type { RunViewModel } from "../seeds/run-view-model.ts";
import { parseJournalSubject, type JournalAddress } from "../topology/subjects.ts";
import { readStored, type StoredBytes } from "./stored-bytes.ts";

/** One stored message on the wire. */
export interface RawRecord {
  readonly subject: string;
  /** The stream sequence at which it was first stored. */
  readonly seq: number;
  /** Its current sequence in the stream, which differs after a restore; null if it is only in the archive. */
  readonly storedSeq: number | null;
  /** The stream's timestamp, ISO 8601. */
  readonly at: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Base64. */
  readonly payload: string;
}

/** A page of a run from the gateway, in stream order. */
export interface RunMaterial {
  readonly runId: string;
  readonly records: readonly RawRecord[];
  /** Subjects that the server lists without returning a message. */
  readonly unreadable: readonly string[];
  /** Why the run's pack in the archive cannot be read; null if it can, or if there is none. */
  readonly archiveProblem: string | null;
  /** The run's view in KV; null if there is none. */
  readonly view: RunViewModel | null;
  /** Request the next page after this sequence; null on the last page. */
  readonly next: number | null;
}

/** One stream of the journal, as described by its server. */
export interface JournalPartition {
  readonly stream: string;
  readonly messages: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Bytes that the server dropped at its start because a block on disk was damaged. */
  readonly lostBytes: number;
}

export interface JournalOverview {
  readonly partitions: readonly JournalPartition[];
  /** All runs with a record. */
  readonly runs: readonly string[];
  /** Runs with a view and no record. */
  readonly onlyViewed: readonly string[];
}

const SHOWN_HEADERS = Object.values(HEADERS);

export function rawRecord(message: StoredBytes, storedSeq: number | null = message.seq): RawRecord {
  const { subject, seq, at, data } = message;
  const named = SHOWN_HEADERS.map((name) => [name, message.header(name)] as const);
  return {
    subject,
    seq,
    storedSeq,
    at: at.toISOString(),
    headers: Object.fromEntries(named.filter(([, value]) => value !== "")),
    payload: Buffer.from(data).toString("base64"),
  };
}

/** A message under check. */
export interface Held {
  readonly subject: string;
  readonly seq: number;
  readonly storedSeq: number | null;
  readonly address: JournalAddress | null;
  /** Digest of the received bytes. */
  readonly digest: string;
  /** The digest in its header; empty if there is none. */
  readonly claimed: string;
  readonly signature: string;
  readonly bytes: number;
  /** The reason why it cannot be read; null if it can. */
  readonly record: StoredRecord | null;
  readonly problem: string | null;
  /** True if the payload ends in the middle of a value. */
  readonly isCut: boolean;
}

export function held(raw: RawRecord): Held {
  const data = Buffer.from(raw.payload, "base64");
  const header = (name: string): string => raw.headers[name] ?? "";
  const { subject, seq, storedSeq } = raw;
  const reading = readStored({ subject, seq, at: new Date(raw.at), data, header });
  const isRecord = reading.kind === "record";
  const record = isRecord ? reading.record : null;
  return {
    subject,
    seq,
    storedSeq,
    address: parseJournalSubject(subject),
    digest: isRecord ? reading.record.digest : reading.digest,
    claimed: header(HEADERS.digest),
    signature: header(HEADERS.signature),
    bytes: data.length,
    record,
    problem: isRecord ? headerProblem(reading.record, header) : reading.problem,
    isCut: !isRecord && endsEarly(data),
  };
}

function endsEarly(data: Uint8Array): boolean {
  try {
    decode(data);
    return false;
  } catch (error) {
    return (error as Error).cause instanceof RangeError;
  }
}

/** No digest covers the headers, so those that repeat fields of the record must agree with it. */
function headerProblem(record: StoredRecord, header: (name: string) => string): string | null {
  const { runId, taskId, epoch, cause, type } = record;
  const repeated: readonly (readonly [string, string])[] = [
    [HEADERS.schema, `journal.${type}.v1`],
    [HEADERS.run, runId],
    [HEADERS.task, taskId ?? "-"],
    [HEADERS.epoch, String(epoch)],
    [HEADERS.cause, cause === null ? "" : `${cause.seq}:${cause.digest}`],
  ];
  if (header(HEADERS.digest) === "") return `it bears no ${HEADERS.digest}`;
  const wrong = repeated.find(([name, value]) => header(name) !== "" && header(name) !== value);
  return wrong === undefined ? null : `header ${wrong[0]} says ${header(wrong[0])}, the record ${wrong[1]}`;
}
