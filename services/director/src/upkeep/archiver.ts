/**
 * J10: moves finished runs out of the journal, so that the server's memory follows the runs under way and not all there
 * ever were. Each round takes one pack's worth of runs; how the steps hold is said in runtime/src/archive/run-archive.ts.
 *
 * Lifecycle: a round at start, then one every `everyMs`; while more is due, the next one follows after a rest as long as
 * the round was. One round at a time, until the signal aborts.
 *
 * Invariants:
 *   D26 A round ends: at most limits.archivePackRuns runs. WakeableLoop take at most half of the time, whatever is due.
 *   D27 A run that cannot be archived (a corrupt record, a broken chain) is named in the log once, stays in the journal
 *       as it is, and holds up no other; the next process tries it again.
 *   D28 Ages are told on the server's clock, as in the journal (D23): a Director whose own clock is wrong archives like any
 *       other.
 *   D29 What crashes left behind is looked for at start and every `tidyEveryMs`, and has to be as old as that: a pack that
 *       nobody points to, documents of an archived run. A pack that alone holds a run is named in the log and stays.
 */
import { limits } from "@antiphon/contracts";
import type { Clock, Logger, RunArchive } from "@antiphon/runtime";

export interface ArchiveTiming {
  /** How long a run has to be over. */
  afterMs: number;
  everyMs: number;
  /** Default limits.archiveTidyS. */
  tidyEveryMs?: number;
}

export interface ArchiverParts {
  archive: RunArchive;
  log: Logger;
  clock: Clock;
}

/** Runs remembered as refused; beyond, the oldest is tried again. */
const MAX_REFUSED = 10_000;

/** `timing` null: nothing is archived. */
export async function archiveForever(
  parts: ArchiverParts,
  timing: ArchiveTiming | null,
  signal: AbortSignal,
): Promise<void> {
  if (timing === null) return;
  const { clock, log } = parts;
  const refused = new Set<string>();
  const tidyEveryMs = timing.tidyEveryMs ?? limits.archiveTidyS * 1000;
  let tidyAt = clock.now();
  while (!signal.aborted) {
    const startedAt = clock.now();
    let isMore = false;
    try {
      isMore = await archiveRound(parts, timing.afterMs, refused);
      if (!isMore && tidyAt <= startedAt) {
        isMore = await tidyRound(parts, tidyEveryMs); // D29
        if (!isMore) tidyAt = startedAt + tidyEveryMs;
      }
    } catch (error) {
      log.warn({ err: error }, "archiving not finished; the next round goes on");
    }
    await clock.sleep(isMore ? clock.now() - startedAt : timing.everyMs, signal); // D26
  }
}

/** True: there may be more to do. */
export async function archiveRound(
  { archive, log, clock }: ArchiverParts,
  afterMs: number,
  refused: Set<string>,
): Promise<boolean> {
  const startedAt = clock.now();
  const until = new Date((await archive.now()).getTime() - afterMs); // D28
  const due = await archive.due(until, limits.archivePackRuns, refused);
  if (due.length === 0) return false;
  const packed = await archive.pack(due, until);
  for (const { runId, code, detail } of packed.refused) {
    log.warn({ run: runId, code, detail }, "run not archived; it stays in the journal"); // D27
    remember(refused, runId);
  }
  const runs = await archive.record(packed);
  const records = await archive.purge(runs);
  const ms = clock.now() - startedAt;
  log.info({ runs: runs.length, records, refused: packed.refused.length, ms }, "finished runs archived");
  return runs.length + packed.refused.length > 0;
}

/** True: there may be more to do. */
async function tidyRound({ archive, log }: ArchiverParts, ageMs: number): Promise<boolean> {
  const { packs, kept, documents, more } = await archive.tidy(
    new Date((await archive.now()).getTime() - ageMs),
  );
  for (const { pack, detail } of kept) log.warn({ pack, detail }, "no record points to this pack; it stays");
  if (packs.length + documents > 0)
    log.info({ packs, documents }, "what was left behind by archiving is removed");
  return more;
}

function remember(refused: Set<string>, runId: string): void {
  refused.add(runId);
  const [oldest] = refused;
  if (refused.size > MAX_REFUSED && oldest !== undefined) refused.delete(oldest);
}
