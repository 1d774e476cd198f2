/**
 * Moves finished runs out of the journal, so that the server's memory grows with the open runs and not with all runs
 * there ever were. Each round moves at most one pack of runs (limits.archivePackRuns); its steps are described in
 * runtime/src/archive/run-archive.ts. Ages are told by the server's clock.
 *
 * Lifecycle: a round at start, then one every `everyMs`. While more is due, the next round follows after a pause as
 * long as the last one, so that archiving takes at most half of the time. One round at a time, until the signal aborts.
 *
 * A run that cannot be archived (a corrupt record, a broken chain) is logged once and stays in the journal; it delays
 * no other run, and the next process tries it again. At start and every TIDY_MS the archiver removes what crashes
 * left behind and is as old as that: packs that no record points to, and documents of archived runs. A pack that alone
 * holds a run is logged and stays.
 */
import { limits } from "@antiphon/contracts";
import type { Clock, Logger, RunArchive } from "@antiphon/runtime";

export interface ArchiveTiming {
  /** How long a run must have been over. */
  afterMs: number;
  everyMs: number;
}

export interface ArchiverParts {
  archive: RunArchive;
  log: Logger;
  clock: Clock;
}

/** Runs remembered as refused; the oldest is forgotten first and tried again. */
const MAX_REFUSED = 10_000;
const TIDY_MS = limits.archiveTidyS * 1000;

/** Archives nothing if `timing` is null. */
export async function archiveForever(
  parts: ArchiverParts,
  timing: ArchiveTiming | null,
  signal: AbortSignal,
): Promise<void> {
  if (timing === null) return;
  const { clock, log } = parts;
  const refused = new Set<string>();
  let tidyAt = clock.now();
  while (!signal.aborted) {
    const startedAt = clock.now();
    let isMore = false;
    try {
      isMore = await archiveRound(parts, timing.afterMs, refused);
      if (!isMore && tidyAt <= startedAt) {
        isMore = await tidyRound(parts);
        if (!isMore) tidyAt = startedAt + TIDY_MS;
      }
    } catch (error) {
      log.warn({ err: error }, "archiving not finished; the next round continues");
    }
    await clock.sleep(isMore ? clock.now() - startedAt : timing.everyMs, signal);
  }
}

/** True if more may be due. */
export async function archiveRound(
  { archive, log, clock }: ArchiverParts,
  afterMs: number,
  refused: Set<string>,
): Promise<boolean> {
  const startedAt = clock.now();
  const until = new Date((await archive.now()).getTime() - afterMs);
  const due = await archive.due(until, limits.archivePackRuns, refused);
  if (due.length === 0) return false;
  const packed = await archive.pack(due, until);
  for (const { runId, code, detail } of packed.refused) {
    log.warn({ run: runId, code, detail }, "run not archived; it stays in the journal");
    remember(refused, runId);
  }
  const runs = await archive.record(packed);
  const records = await archive.purge(runs);
  const ms = clock.now() - startedAt;
  log.info({ runs: runs.length, records, refused: packed.refused.length, ms }, "finished runs archived");
  return runs.length + packed.refused.length > 0;
}

/** True if more may be left. */
async function tidyRound({ archive, log }: ArchiverParts): Promise<boolean> {
  const { packs, kept, documents, more } = await archive.tidy(
    new Date((await archive.now()).getTime() - TIDY_MS),
  );
  for (const { pack, detail } of kept) log.warn({ pack, detail }, "no record points to this pack; it stays");
  if (packs.length + documents > 0) log.info({ packs, documents }, "leftovers of archiving removed");
  return more;
}

function remember(refused: Set<string>, runId: string): void {
  refused.add(runId);
  const [oldest] = refused;
  if (refused.size > MAX_REFUSED && oldest !== undefined) refused.delete(oldest);
}
