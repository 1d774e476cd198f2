/** Plans which records go into a pack, and which ones may then be deleted from the journal. Pure. */
import type { ArchivedBody, ArchivedMessage, ArchivedRun, JournalType } from "@antiphon/contracts";
import {
  AntiphonError,
  HEADERS,
  STORAGE_TYPES,
  archivedRunDigest,
  digestOf,
  parseJournalSubject,
} from "@antiphon/contracts";
import type { StoredMessage } from "../nats/direct-answer.ts";

/** What a record takes in a pack besides its payload: subject, headers, envelope. */
const RECORD_BYTES = 1024;

/** The run as it is to be archived: the journal's records, and those that only an earlier pack holds. */
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
 * Sequences of the records that the pack holds byte for byte, and of the storage records of earlier packs. The `intent`
 * comes first and `closed` last, so that an interrupted purge never leaves an open run and is found again.
 */
export function purgeable(messages: readonly StoredMessage[], entry: ArchivedRun, epoch: number): number[] {
  const packed = new Map(entry.records.map(({ subject, data }) => [subject, digestOf(data)]));
  const going = messages.filter((message) =>
    isStorage(message)
      ? (parseJournalSubject(message.subject)?.epoch ?? epoch) < epoch
      : packed.get(message.subject) === digestOf(message.data),
  );
  return going.sort((a, b) => turnOf(a) - turnOf(b) || a.seq - b.seq).map(({ seq }) => seq); // runtime/J10
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

/** Approximate size of the run in a pack, uncompressed. */
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
