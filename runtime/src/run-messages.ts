import { journalStream, partitionOf, subjects } from "@antiphon/contracts";
import type { Bus } from "./bus.ts";
import type { StoredMessage } from "./direct-reader.ts";
import { TooManyResults } from "./direct-reader.ts";

/** Messages of one page when a run has more than the server resolves at once (1,024). */
const PAGE = 512;

export function journalStreamOf(bus: Bus, runId: string): string {
  return journalStream(partitionOf(runId, bus.partitions));
}

/** All messages the journal holds of a run, from a stream sequence on, in stream order. */
export async function runMessages(bus: Bus, runId: string, fromSeq = 0): Promise<StoredMessage[]> {
  const stream = journalStreamOf(bus, runId);
  const filter = subjects.runInPartition(runId, bus.partitions);
  try {
    return await bus.reader.multiLast(stream, [filter], fromSeq);
  } catch (error) {
    if (!(error instanceof TooManyResults)) throw error;
  }
  const messages: StoredMessage[] = [];
  for (let seq = Math.max(1, fromSeq); ;) {
    const page = await bus.reader.next(stream, { filter, seq, batch: PAGE });
    messages.push(...page.messages);
    const last = page.messages.at(-1);
    if (last === undefined || page.pending === 0) return messages;
    seq = last.seq + 1;
  }
}
