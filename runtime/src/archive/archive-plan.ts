/** What goes into a pack, and what may go out of the journal then. Pure. */
import type { ArchivedBody, ArchivedMessage, ArchivedRun, JournalType } from "@antiphon/contracts";
import {
  AntiphonError,
  HEADERS,
  STORAGE_TYPES,
  archivedRunDigest,
  digestOf,
  parseJournalSubject,
} from "@antiphon/contracts";
import type { StoredMessage } from "../nats/direct-reader.ts";

/** What a record takes beside its payload: subject, headers, envelope of the pack. */
const RECORD_BYTES = 1024;

/** The run as it is to be kept: what the journal holds, and what only an earlier pack holds. */
export function entryOf(
  runId: string,
  messages: readonly StoredMessage[],
  before: ArchivedRun | null,
): ArchivedRun {
  const own = messages.filter((message) => !isStorage(message)).map(asStoredFirst);
  const bySubject = new Map([...own, ...(before?.records ?? [])].map((record) => [record.subject, record]));
  return { runId, records: [...bySubject.values()].sort((a, b) => a.seq - b.seq) };
}

/**
 * Sequences of what the pack holds too, byte by byte, and of what said so about earlier packs (X2). The `intent` is
 * first and `closed` is last (X3).
 */
export function purgeable(messages: readonly StoredMessage[], entry: ArchivedRun, epoch: number): number[] {
  const packed = new Map(entry.records.map(({ subject, data }) => [subject, digestOf(data)]));
  const going = messages.filter((message) =>
    isStorage(message)
      ? (parseJournalSubject(message.subject)?.epoch ?? epoch) < epoch
      : packed.get(message.subject) === digestOf(message.data),
  );
  return going.sort((a, b) => turnOf(a) - turnOf(b) || a.seq - b.seq).map(({ seq }) => seq);
}

export function contentsOf(entry: ArchivedRun): Omit<ArchivedBody, "pack"> {
  const last = entry.records.at(-1);
  if (last === undefined) throw new AntiphonError("ANT_JOURNAL_GAP", `${entry.runId} has no records`);
  return {
    records: entry.records.length,
    digest: archivedRunDigest(entry),
    last: { seq: last.seq, digest: digestOf(last.data) },
  };
}

/** About what the run takes in a pack, uncompressed. */
export function sizeOf(entry: ArchivedRun): number {
  return entry.records.reduce((sum, { data }) => sum + data.length + RECORD_BYTES, 0);
}

function asStoredFirst(message: StoredMessage): ArchivedMessage {
  const { subject, data } = message;
  const { [HEADERS.restored]: before, ...headers } = message.headers();
  if (before === undefined) {
    return { subject, seq: message.seq, at: message.header("Nats-Time-Stamp"), headers, data };
  }
  const colon = before.indexOf(":");
  return { subject, seq: Number(before.slice(0, colon)), at: before.slice(colon + 1), headers, data };
}

const typeOf = ({ subject }: StoredMessage): JournalType | null => parseJournalSubject(subject)?.type ?? null;

function isStorage(message: StoredMessage): boolean {
  const type = typeOf(message);
  return type !== null && STORAGE_TYPES.includes(type);
}

function turnOf(message: StoredMessage): number {
  const type = typeOf(message);
  return type === "intent" ? 0 : type === "closed" ? 2 : 1;
}
