import { AntiphonError, journalStream, partitionOf, subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import type { StoredMessage } from "../nats/direct-reader.ts";
import { TooManyResults, UnreadableMessage } from "../nats/direct-reader.ts";
import { believedOf } from "./forged.ts";

/** Messages of one page when a run has more than the server resolves at once (1,024). */
const PAGE = 512;

export function journalStreamOf(bus: Bus, runId: string): string {
  return journalStream(partitionOf(runId, bus.partitions));
}

/** What is left of a run whose record is damaged on the server's disk is no run: half of it would decide otherwise. */
export function notHandedOut(runId: string): AntiphonError {
  const detail = `${runId}: the server lists a record that it does not hand out`;
  return new AntiphonError("ANT_JOURNAL_CORRUPT", detail, { data: { runId } });
}

/** What the journal holds of a run, from a stream sequence on, in stream order, without what is not believed (FD1). */
export async function runMessages(bus: Bus, runId: string, fromSeq = 0): Promise<StoredMessage[]> {
  const stream = journalStreamOf(bus, runId);
  const messages = await believedOf(bus, stream, await storedMessages(bus, stream, runId, fromSeq));
  return messages.filter(({ seq }) => seq >= fromSeq); // What a forged one hid may have been read before.
}

async function storedMessages(
  bus: Bus,
  stream: string,
  runId: string,
  fromSeq: number,
): Promise<StoredMessage[]> {
  const filter = subjects.runInPartition(runId, bus.partitions);
  try {
    return await bus.reader.multiLast(stream, [filter], fromSeq);
  } catch (error) {
    if (error instanceof UnreadableMessage) throw notHandedOut(runId);
    if (!(error instanceof TooManyResults)) throw error;
  }
  const messages: StoredMessage[] = [];
  for (let seq = Math.max(1, fromSeq), pending = 0; ;) {
    const page = await bus.reader.next(stream, { filter, seq, batch: PAGE });
    messages.push(...page.messages);
    const last = page.messages.at(-1);
    if (last === undefined && pending > 0) throw notHandedOut(runId);
    if (last === undefined) return messages; // Not by what is pending: a replica that lags knows of less (D4).
    pending = page.pending;
    seq = last.seq + 1;
  }
}
