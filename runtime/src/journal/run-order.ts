import { partitionOf } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { archivedBefore, archivedFrom, archivingsOf, type ArchivedPlace } from "./archived-runs.ts";
import { RunHistory } from "./run-history.ts";
import { RunIndex } from "./run-index.ts";
import { pageOfPlaces, type RunCursor, type RunPage, type RunPlace } from "./run-page.ts";

/** RunOrder: the runs of the journal and the archive, page by page, each of them once (run-page.ts has the order). */
export interface RunOrder {
  page(limit: number, cursor: RunCursor | null): Promise<RunPage>;
}

export function openRunOrder(bus: Bus): RunOrder {
  const index = new RunIndex(bus);
  const history = new RunHistory(bus);

  /** Runs of the list's first part that were archived after it was begun. */
  async function archivedSince(upTo: readonly number[]): Promise<RunPlace[]> {
    const places: RunPlace[] = [];
    for (const [partition, end] of upTo.entries()) {
      for (const { runId, epoch } of await archivedFrom(bus, partition, end + 1)) {
        const [first] = epoch === 1 ? await history.records(runId) : [];
        if (first !== undefined && first.seq <= end)
          places.push({ runId, seq: first.seq, at: first.at.getTime() });
      }
    }
    return places;
  }

  /** The last archived runs below these sequences, the newest first. */
  async function archived(below: readonly number[], limit: number): Promise<ArchivedPlace[]> {
    const all: ArchivedPlace[] = [];
    for (const [partition, before] of below.entries())
      all.push(...(await archivedBefore(bus, partition, before, limit)));
    return all.sort((a, b) => b.at - a.at || b.seq - a.seq).slice(0, limit);
  }

  /** A run that was archived, restored and archived again is listed where it was archived last. */
  async function lastOnes(
    upTo: readonly number[],
    places: readonly ArchivedPlace[],
  ): Promise<ArchivedPlace[]> {
    const kept: ArchivedPlace[] = [];
    for (const [partition, end] of upTo.entries()) {
      const own = places.filter(({ runId }) => partitionOf(runId, bus.partitions) === partition);
      const ids = own.map(({ runId }) => runId);
      const all = await archivingsOf(bus, partition, ids);
      const last = (runId: string): number => Math.max(...(all.get(runId) ?? []).filter((seq) => seq <= end));
      kept.push(...own.filter(({ runId, seq }) => seq === last(runId)));
    }
    return places.filter((place) => kept.includes(place));
  }

  async function archivePage(
    upTo: readonly number[],
    from: readonly number[],
    limit: number,
  ): Promise<RunPage> {
    const runIds: string[] = [];
    let below = from;
    for (;;) {
      const found = await archived(below, limit - runIds.length + 1); // one more shows whether there is a next page
      const taken = found.slice(0, limit - runIds.length);
      runIds.push(...(await lastOnes(upTo, taken)).map(({ runId }) => runId));
      below = below.map((before, partition) =>
        Math.min(before, ...taken.flatMap((one) => (isIn(one, partition) ? [one.seq] : []))),
      );
      if (found.length <= taken.length) return { runIds, next: null };
      if (runIds.length >= limit) return { runIds, next: { part: "archive", upTo, below } };
    }
  }

  const isIn = ({ runId }: { runId: string }, partition: number): boolean =>
    partitionOf(runId, bus.partitions) === partition;

  return {
    async page(limit, cursor) {
      const ends = await index.learn();
      const upTo = cursor?.upTo ?? ends;
      if (cursor?.part === "archive") return archivePage(upTo, cursor.below, limit);
      const late = cursor === null ? [] : await archivedSince(upTo);
      const { page, isLast } = pageOfPlaces([...index.upTo(upTo), ...late], cursor?.after ?? null, limit);
      const runIds = page.map(({ runId }) => runId);
      const last = page.at(-1);
      if (!isLast && last !== undefined) {
        const after = { at: last.at, runId: last.runId };
        return { runIds, next: { part: "journal", upTo, after } };
      }
      const below = upTo.map((end) => end + 1);
      const rest = limit - runIds.length;
      if (rest > 0) {
        const more = await archivePage(upTo, below, rest);
        return { runIds: [...runIds, ...more.runIds], next: more.next };
      }
      const [one] = await archived(below, 1);
      return { runIds, next: one === undefined ? null : { part: "archive", upTo, below } };
    },
  };
}
