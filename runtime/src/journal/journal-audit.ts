/**
 * JournalAudit: the journal exactly as its server holds it, for checking tools. It reads messages, not records: it
 * refuses nothing because of its content, and it names everything that the server lists but cannot deliver.
 *
 * nats-server (2.15) stores a checksum with each message and does not deliver a message that fails it: a read of its
 * subject answers "not found", and a read of its run stops before it or leaves it out. If the server has to rebuild the
 * block's index (after a kill), it truncates the block there and reports how many bytes it dropped. The audit therefore
 * compares the listing with the delivered messages: every listed subject comes back as a message or as unreadable.
 */
import type { JournalPartition, StoredBytes } from "@antiphon/contracts";
import {
  AntiphonError,
  HEADERS,
  JOURNAL_TYPES,
  journalStream,
  parseJournalSubject,
  partitionOf,
  subjects,
} from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import type { StoredMessage } from "../nats/direct-answer.ts";
import { PackStore } from "../archive/pack-store.ts";
import { latestArchived } from "./run-history.ts";

/**
 * A message under the sequence it was first stored with. `storedSeq`: its present one, or null if only the archive has
 * it.
 */
export type AuditedMessage = StoredBytes & { readonly storedSeq: number | null };

export interface RunMessages {
  /** In stream order, with every message of a register that was written twice. An archived run's come from its pack. */
  readonly messages: readonly AuditedMessage[];
  readonly unreadable: readonly string[];
  readonly archiveProblem: string | null;
}

export interface JournalAudit {
  partitions(): Promise<JournalPartition[]>;
  /** Ids of all runs with any record. */
  runIds(): Promise<string[]>;
  run(runId: string): Promise<RunMessages>;
}

/** Messages of one read. */
const PAGE = 256;
/** Single messages requested at the same time. */
const AT_ONCE = 32;

export function openJournalAudit(bus: Bus): JournalAudit {
  return {
    partitions: () =>
      Promise.all(Array.from({ length: bus.partitions }, (_, partition) => partitionState(bus, partition))),
    runIds: () => runIds(bus),
    run: (runId) => runMessages(bus, new PackStore(bus), runId),
  };
}

async function partitionState(bus: Bus, partition: number): Promise<JournalPartition> {
  const stream = journalStream(partition);
  const { state } = await bus.jsm.streams.info(stream);
  return {
    stream,
    messages: state.messages,
    firstSeq: state.first_seq,
    lastSeq: state.last_seq,
    lostBytes: state.lost?.bytes ?? 0,
  };
}

async function runIds(bus: Bus): Promise<string[]> {
  const ids = new Set<string>();
  for (let partition = 0; partition < bus.partitions; partition += 1) {
    for (const type of JOURNAL_TYPES) {
      const listed = await listing(bus, journalStream(partition), subjects.partitionType(partition, type));
      for (const subject of listed.keys()) {
        const address = parseJournalSubject(subject);
        if (address !== null) ids.add(address.runId);
      }
    }
  }
  return [...ids].sort();
}

/** Subjects and how many messages each holds. */
async function listing(bus: Bus, stream: string, filter: string): Promise<Map<string, number>> {
  const info = await bus.jsm.streams.info(stream, { subjects_filter: filter });
  return new Map(Object.entries(info.state.subjects ?? {}));
}

async function runMessages(bus: Bus, packs: PackStore, runId: string): Promise<RunMessages> {
  const { messages, unreadable } = await liveMessages(bus, runId);
  const live = messages.map(firstStored);
  const packed = await packedMessages(bus, packs, messages);
  if (typeof packed === "string") return { messages: live, unreadable, archiveProblem: packed };
  const subjectsHere = new Set(live.map(({ subject }) => subject));
  const all = [...live, ...packed.filter(({ subject }) => !subjectsHere.has(subject))];
  return { messages: all.sort((a, b) => a.seq - b.seq), unreadable, archiveProblem: null };
}

/** A restored record names its first sequence and time in a header. */
function firstStored(message: StoredMessage): AuditedMessage {
  const { subject, seq, at, data } = message;
  const header = (name: string): string => message.header(name);
  const [first, ...rest] = header(HEADERS.restored).split(":");
  if (first === undefined || !/^\d+$/.test(first)) return { subject, seq, at, data, header, storedSeq: seq };
  return { subject, seq: Number(first), at: new Date(rest.join(":")), data, header, storedSeq: seq };
}

/** The messages of the run's pack, empty if it has none; a string says why the pack cannot be read. */
async function packedMessages(
  bus: Bus,
  packs: PackStore,
  messages: readonly StoredMessage[],
): Promise<AuditedMessage[] | string> {
  const storage = messages.filter(({ subject }) => parseJournalSubject(subject)?.type === "archived");
  if (storage.length === 0) return [];
  try {
    const archived = latestArchived(storage.map((message) => bus.records.read(message)));
    if (archived === null) return [];
    const { records } = await packs.entry(archived);
    return records.map(({ subject, seq, at, headers, data }) => ({
      ...{ subject, seq, at: new Date(at), data, storedSeq: null },
      header: (name: string) => headers[name] ?? "",
    }));
  } catch (error) {
    const { code, detail } = AntiphonError.from(error);
    if (code === "ANT_NATS_UNREACHABLE") throw error;
    return `${code}: ${detail}`;
  }
}

async function liveMessages(
  bus: Bus,
  runId: string,
): Promise<{ messages: StoredMessage[]; unreadable: string[] }> {
  const stream = journalStream(partitionOf(runId, bus.partitions));
  const filter = subjects.runInPartition(runId, bus.partitions);
  const listed = await listing(bus, stream, filter);
  const messages = await handedOut(bus, stream, filter);
  const seen = new Map<string, number>();
  for (const { subject } of messages) seen.set(subject, (seen.get(subject) ?? 0) + 1);
  const behind = [...listed].filter(([subject, count]) => (seen.get(subject) ?? 0) < count);
  // The server left some messages out: request each by its own subject.
  const unreadable: string[] = [];
  const bySeq = new Map(messages.map((message) => [message.seq, message]));
  for (let from = 0; from < behind.length; from += AT_ONCE) {
    const page = behind.slice(from, from + AT_ONCE);
    const found = await Promise.all(page.map(([subject]) => bus.reader.last(stream, subject)));
    found.forEach((message, i) => {
      if (message !== null) bySeq.set(message.seq, message);
      else if (page[i] !== undefined) unreadable.push(page[i][0]);
    });
  }
  return { messages: [...bySeq.values()], unreadable };
}

/** Reads by sequence, so that a register written twice shows both messages. The server skips unreadable ones. */
async function handedOut(bus: Bus, stream: string, filter: string): Promise<StoredMessage[]> {
  const messages: StoredMessage[] = [];
  for (let seq = 1; ;) {
    const page = await bus.reader.next(stream, { filter, seq, batch: PAGE });
    messages.push(...page.messages);
    const last = page.messages.at(-1);
    if (last === undefined || page.pending === 0) return messages;
    seq = last.seq + 1;
  }
}
