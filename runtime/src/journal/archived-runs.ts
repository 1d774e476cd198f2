import { journalStream, parseJournalSubject, subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";

/** Finds `archived` records. An archived run leaves about one record in ten in its stream, so a search looks that far. */
const FIRST_LOOK = 16;
const PAGE = 512;
/** Filters of one read; the server allows 1,024. */
const FILTERS = 256;

export interface ArchivedPlace {
  readonly runId: string;
  /** Counts how often the run was archived: 1, 2, ... */
  readonly epoch: number;
  readonly seq: number;
  readonly at: number;
}

/** The `archived` records from a sequence on, the oldest first. */
export async function archivedFrom(bus: Bus, partition: number, from: number): Promise<ArchivedPlace[]> {
  const filter = subjects.partitionType(partition, "archived");
  const found: ArchivedPlace[] = [];
  for (let seq = from; ;) {
    const page = await bus.reader.next(journalStream(partition), { filter, seq, batch: PAGE });
    for (const message of page.messages) {
      const address = parseJournalSubject(message.subject);
      if (address !== null)
        found.push({
          ...{ runId: address.runId, epoch: address.epoch },
          ...{ seq: message.seq, at: message.at.getTime() },
        });
    }
    const last = page.messages.at(-1);
    if (last === undefined || page.pending === 0) return found;
    seq = last.seq + 1;
  }
}

/** The last `limit` of them before a sequence, the newest first. Searches back, further each time. */
export async function archivedBefore(
  bus: Bus,
  partition: number,
  before: number,
  limit: number,
): Promise<ArchivedPlace[]> {
  for (let back = FIRST_LOOK * limit; ; back *= 4) {
    const from = Math.max(1, before - back);
    const found = (await archivedFrom(bus, partition, from)).filter(({ seq }) => seq < before);
    if (found.length >= limit || from === 1) return found.reverse().slice(0, limit);
  }
}

/** The sequences of each run's `archived` records. A run without one has no entry. */
export async function archivingsOf(
  bus: Bus,
  partition: number,
  runIds: readonly string[],
): Promise<Map<string, number[]>> {
  const all = new Map<string, number[]>();
  for (let at = 0; at < runIds.length; at += FILTERS) {
    const filters = runIds
      .slice(at, at + FILTERS)
      .map((runId) => subjects.runTypeInPartition(runId, "archived", bus.partitions));
    for (const { subject, seq } of await bus.reader.multiLast(journalStream(partition), filters)) {
      const runId = parseJournalSubject(subject)?.runId;
      if (runId !== undefined) all.set(runId, [...(all.get(runId) ?? []), seq]);
    }
  }
  return all;
}
