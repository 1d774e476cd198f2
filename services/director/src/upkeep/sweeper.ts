/**
 * Visits the open runs now and then and carries out what they owe. The consumer's redeliveries already cover a crash; a
 * sweep covers the rest: a record whose delivery was given up, and a restored journal.
 *
 * A run that waits and is owed nothing is forgotten until its next record, so that many open runs take little memory. An
 * attempt that took so long costs one read more.
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

/** Runs read at the same time: enough to hide the round trips, few enough to leave the deliveries room. */
const AT_ONCE = 8;

export async function sweepForever(
  parts: SweeperParts,
  timing: SweepTiming,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await sweep(parts, timing, signal);
    } catch (error) {
      parts.log.warn({ err: error }, "sweep not finished; the next one tries again");
    }
    await parts.sleep(timing.everyMs, signal);
  }
}

async function sweep(parts: SweeperParts, timing: SweepTiming, signal: AbortSignal): Promise<void> {
  const progress = await parts.progress();
  const open = await parts.journal.openRunIds(); // director/D6
  for (let from = 0; from < open.length && !signal.aborted; from += AT_ONCE) {
    await Promise.all(
      open
        .slice(from, from + AT_ONCE)
        .map((runId) => sweepRunAlone(parts, timing, progress(runId), runId, signal)),
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
): Promise<void> {
  try {
    await sweepRun(parts, timing, progress, runId, signal);
  } catch (error) {
    const { code, detail } = AntiphonError.from(error);
    parts.log.warn({ run: runId, code, detail }, "run not swept; the next sweep tries again");
  }
}

async function sweepRun(
  parts: SweeperParts,
  timing: SweepTiming,
  { at, upTo }: Progress,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const records = await parts.journal.read(runId);
  const last = records.at(-1);
  if (last === undefined) return;
  const ageMs = at.getTime() - last.at.getTime();
  for (const { type, body } of records) if (type === "intent") parts.races?.note(runId, body);
  if (ageMs < timing.quietMs) return; // director/D6
  const run = parts.runs.retold(runId, records);
  if (run.snapshot.status !== "active") return;
  await parts.timers.keep(run);
  await parts.timers.overdue(run, new Date(at.getTime() - timing.quietMs));
  const lastForDirector = records.findLast(({ type }) => CONSUMER_TYPES.director.includes(type))?.seq ?? 0;
  if (lastForDirector > upTo && ageMs < timing.patienceMs) return; // director/D6
  if (outstanding(run.snapshot).length === 0) return parts.runs.forget(runId);
  parts.log.info({ run: runId, seq: last.seq }, "open run found with work left to do");
  await parts.director.advance(run, { seq: last.seq, digest: last.digest }, signal);
}
