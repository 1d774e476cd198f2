/**
 * Visits the open runs now and then and carries out what they owe. The consumer's redeliveries already cover a crash; a
 * sweep covers the rest: a record whose delivery was given up, and a restored journal.
 *
 * A run that waits for others is forgotten until its next record, so that many open runs take little memory; an attempt that took
 * so long costs one read more. It is visited again eight sweeps later, or when a time that it waits for is over.
 *
 * Lifecycle: sweeps at start and every `everyMs` until the signal aborts; one sweep at a time. A run that cannot be
 * read is logged and skipped; the others are swept.
 *
 * Promises:
 *   director/D6 Because a sweep works only on open runs whose last record is old by the server's clock and whose
 *     delivery is no longer open, it continues abandoned runs, leaves those in progress alone, and reads no finished
 *     run.
 */
import { AntiphonError, CONSUMER_TYPES } from "@antiphon/contracts";
import type { Journal, Logger, Progress, ProgressOf } from "@antiphon/runtime";
import type { CachedRun } from "../runs/cached-run.ts";
import { outstanding } from "@antiphon/run";
import type { Director } from "../scheduling/director.ts";
import type { RaceWatch } from "../landing/race-watch.ts";
import type { RunCache } from "../runs/run-cache.ts";
import type { TimerScheduler } from "../timers/timer-scheduler.ts";

export interface SweeperParts {
  journal: Journal;
  runs: RunCache;
  director: Director;
  timers: Pick<TimerScheduler, "keep" | "overdue">;
  races?: Pick<RaceWatch, "note">;
  log: Logger;
  progress(): Promise<ProgressOf>;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface SweepTiming {
  everyMs: number;
  /** A run is visited only if its last record is at least so old. */
  quietMs: number;
  /** The same for a run whose delivery may be open: the server cannot tell it from an older one that is. */
  patienceMs: number;
}

/** A run that waits for others is passed over by so many sweeps, so that open runs cost few reads. */
const RESTING_SWEEPS = 8;

/** Until when each run that waits for others is not visited, by the server's clock. */
type Resting = Map<string, Date>;

/** Runs read at the same time: enough to hide the round trips, few enough to leave the deliveries room. */
const AT_ONCE = 8;

export async function sweepForever(
  parts: SweeperParts,
  timing: SweepTiming,
  signal: AbortSignal,
): Promise<void> {
  const resting: Resting = new Map();
  while (!signal.aborted) {
    try {
      await sweep(parts, timing, resting, signal);
    } catch (error) {
      parts.log.warn({ err: error }, "sweep not finished; the next one tries again");
    }
    await parts.sleep(timing.everyMs, signal);
  }
}

async function sweep(
  parts: SweeperParts,
  timing: SweepTiming,
  resting: Resting,
  signal: AbortSignal,
): Promise<void> {
  const progress = await parts.progress();
  const open = new Set(await parts.journal.openRunIds()); // director/D6
  for (const runId of resting.keys()) if (!open.has(runId)) resting.delete(runId);
  const due = [...open].filter((runId) => (resting.get(runId) ?? 0) <= progress(runId).at);
  for (let from = 0; from < due.length && !signal.aborted; from += AT_ONCE) {
    await Promise.all(
      due.slice(from, from + AT_ONCE).map(async (runId) => {
        const until = await sweepRunAlone(parts, timing, progress(runId), runId, signal);
        if (until === null) resting.delete(runId);
        else resting.set(runId, until);
      }),
    );
  }
}

/** A failure of one run does not stop the sweep. */
async function sweepRunAlone(
  parts: SweeperParts,
  timing: SweepTiming,
  progress: Progress,
  runId: string,
  signal: AbortSignal,
): Promise<Date | null> {
  try {
    return await sweepRun(parts, timing, progress, runId, signal);
  } catch (error) {
    const { code, detail } = AntiphonError.from(error);
    parts.log.warn({ run: runId, code, detail }, "run not swept; the next sweep tries again");
    return null;
  }
}

/** Until when the run may rest. Null: the next sweep visits it. */
async function sweepRun(
  parts: SweeperParts,
  timing: SweepTiming,
  { at, upTo }: Progress,
  runId: string,
  signal: AbortSignal,
): Promise<Date | null> {
  const records = await parts.journal.read(runId);
  const last = records.at(-1);
  if (last === undefined) return null;
  const ageMs = at.getTime() - last.at.getTime();
  for (const { type, body } of records) if (type === "intent") parts.races?.note(runId, body);
  if (ageMs < timing.quietMs) return null; // director/D6
  const run = parts.runs.retold(runId, records);
  if (run.snapshot.status !== "active") return null;
  const next = await keptTimers(parts, runId, run);
  await parts.timers.overdue(run, new Date(at.getTime() - timing.quietMs));
  const lastForDirector = records.findLast(({ type }) => CONSUMER_TYPES.director.includes(type))?.seq ?? 0;
  if (lastForDirector > upTo && ageMs < timing.patienceMs) return null; // director/D6
  if (outstanding(run.snapshot).length === 0) {
    parts.runs.forget(runId);
    const later = at.getTime() + RESTING_SWEEPS * timing.everyMs;
    if (next === "unknown") return null;
    return new Date(next === null ? later : Math.min(later, next.getTime() + timing.quietMs));
  }
  parts.log.info({ run: runId, seq: last.seq }, "open run found with work left to do");
  await parts.director.advance(run, { seq: last.seq, digest: last.digest }, signal);
  return null;
}

/** A timer that cannot be stored keeps no run from what is overdue and owed, which this sweep does. */
async function keptTimers(
  { timers, log }: SweeperParts,
  runId: string,
  run: CachedRun,
): Promise<Date | null | "unknown"> {
  try {
    return await timers.keep(run);
  } catch (error) {
    const { code, detail } = AntiphonError.from(error);
    log.warn({ run: runId, code, detail }, "timers not set; the next sweep tries again");
    return "unknown";
  }
}
