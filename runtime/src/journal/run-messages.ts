import { AntiphonError, journalStream, partitionOf, subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import type { StoredMessage } from "../nats/direct-answer.ts";
import { TooManyResults, UnreadableMessage } from "../nats/direct-reader.ts";
import { believedOf, firstClaims } from "./forged.ts";

/** Page size for a run with more messages than the server resolves at once (1,024). */
const PAGE = 512;

/** A part of a long run, for a reader that goes on with the next one. */
const PART = { batch: 2_048, maxBytes: 4 * 1024 * 1024 };

export function journalStreamOf(bus: Bus, runId: string): string {
  return journalStream(partitionOf(runId, bus.partitions));
}

/** A run with a damaged record is not readable: the remaining half could lead to other decisions. */
export function notHandedOut(runId: string): AntiphonError {
  const detail = `${runId}: the server lists a record but does not deliver it`;
  return new AntiphonError("ANT_JOURNAL_CORRUPT", detail, { data: { runId } });
}

/** The journal's genuine messages of a run, from a stream sequence on, in stream order. */
export async function runMessages(bus: Bus, runId: string, fromSeq = 0): Promise<StoredMessage[]> {
  const stream = journalStreamOf(bus, runId);
  const messages = await believedOf(bus, stream, await storedMessages(bus, stream, runId, fromSeq));
  return messages.filter(({ seq }) => seq >= fromSeq); // A genuine message that a forged one hid may be older.
}

export interface MessagePage {
  readonly messages: readonly StoredMessage[];
  /** The run is too long to be read at once: there may be more behind them. */
  readonly goesOn: boolean;
}

/** The same, but of a long run only the next ones that are genuine. `isLong`: as the page before told. */
export async function nextMessages(
  bus: Bus,
  runId: string,
  fromSeq: number,
  isLong: boolean,
): Promise<MessagePage> {
  const stream = journalStreamOf(bus, runId);
  const filter = subjects.runInPartition(runId, bus.partitions);
  // A genuine message that a forged one hides may be older, and was read before; or it comes with a later page.
  const genuine = async (found: readonly StoredMessage[]): Promise<StoredMessage[]> => {
    const upTo = found.at(-1)?.seq ?? 0;
    const believed = await believedOf(bus, stream, found);
    const own = believed.filter(({ seq }) => seq >= fromSeq && seq <= upTo);
    return firstClaims(bus, stream, own); // runtime/J14
  };
  const whole = isLong ? null : await wholeRun(bus, stream, runId, fromSeq);
  if (whole !== null) {
    const believed = await believedOf(bus, stream, whole);
    return { messages: believed.filter(({ seq }) => seq >= fromSeq), goesOn: false };
  }
  for (let seq = Math.max(1, fromSeq); ;) {
    const { messages, pending } = await bus.reader.next(stream, { filter, seq, ...PART });
    const last = messages.at(-1);
    if (last === undefined && pending > 0) throw notHandedOut(runId);
    const believed = await genuine(messages);
    if (last === undefined || believed.length > 0) return { messages: believed, goesOn: true };
    seq = last.seq + 1; // All of the page is forged.
  }
}

/** Null: the run has more messages than the server resolves at once. */
async function wholeRun(
  bus: Bus,
  stream: string,
  runId: string,
  fromSeq: number,
): Promise<StoredMessage[] | null> {
  try {
    return await bus.reader.multiLast(stream, [subjects.runInPartition(runId, bus.partitions)], fromSeq);
  } catch (error) {
    if (error instanceof UnreadableMessage) throw notHandedOut(runId);
    if (!(error instanceof TooManyResults)) throw error;
    return null;
  }
}

async function storedMessages(
  bus: Bus,
  stream: string,
  runId: string,
  fromSeq: number,
): Promise<StoredMessage[]> {
  const whole = await wholeRun(bus, stream, runId, fromSeq);
  if (whole !== null) return whole;
  const filter = subjects.runInPartition(runId, bus.partitions);
  const messages: StoredMessage[] = [];
  for (let seq = Math.max(1, fromSeq), pending = 0; ;) {
    const page = await bus.reader.next(stream, { filter, seq, batch: PAGE });
    messages.push(...page.messages);
    const last = page.messages.at(-1);
    if (last === undefined && pending > 0) throw notHandedOut(runId);
    if (last === undefined) return messages; // Not by `pending`, which is too low on a lagging replica.
    pending = page.pending;
    seq = last.seq + 1;
  }
}
