/**
 * J10: looks at every open run now and then, and does what it owes. The consumer's redeliveries already cover
 * a crash; this covers what they cannot: a record whose delivery was given up, a restored journal.
 *
 * Lifecycle: sweeps at start and every `everyMs` until the signal aborts; one sweep at a time.
 *
 * Invariants:
 *   D10 A sweep leaves a run alone while its last record is young, and does its work only when the server says that
 *       no delivery of it is open: somebody is at work on it, or will be. Where others keep the server from knowing,
 *       it waits for longer.
 *   D20 What a sweep reads is in proportion to the open runs, not to all of them: which are open is told by names.
 *   D23 Ages are told on one clock, the server's: a sweeper whose own clock is wrong sweeps like any other.
 *   D21 A run that cannot be read (a corrupt record) is named in the log and left; the others are swept.
 */
import { AntiphonError, CONSUMER_TYPES } from "@antiphon/contracts";
import type { Journal, Logger, Progress, ProgressOf } from "@antiphon/runtime";
import { outstanding } from "@antiphon/run";
import type { Director } from "../scheduling/director.ts";
import type { RunCache } from "../runs/run-cache.ts";
import type { TimerScheduler } from "../timers/timer-scheduler.ts";

export interface SweeperParts {
  journal: Journal;
  runs: RunCache;
  director: Director;
  timers: Pick<TimerScheduler, "note" | "overdue">;
  log: Logger;
  progress(): Promise<ProgressOf>;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface SweepTiming {
  everyMs: number;
  /** How long nothing was recorded of a run that is looked at. */
  quietMs: number;
  /** The same for a run that may be under way: the server cannot tell its delivery from an older one that is. */
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
  const open = await parts.journal.openRunIds(); // D20
  for (let from = 0; from < open.length && !signal.aborted; from += AT_ONCE) {
    await Promise.all(
      open
        .slice(from, from + AT_ONCE)
        .map((runId) => sweepRunAlone(parts, timing, progress(runId), runId, signal)),
    );
  }
}

/** D21: what is wrong with one run stays with it. */
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
  const ageMs = at.getTime() - last.at.getTime(); // D23
  if (ageMs < timing.quietMs) return; // D10
  const run = parts.runs.retold(runId, records);
  if (run.snapshot.status !== "active") return;
  parts.timers.note(runId); // D16
  await parts.timers.overdue(run, new Date(at.getTime() - timing.quietMs));
  const heard = records.findLast(({ type }) => CONSUMER_TYPES.director.includes(type))?.seq ?? 0;
  if (heard > upTo && ageMs < timing.patienceMs) return; // D10
  if (outstanding(run.snapshot).length === 0) return;
  parts.log.info({ run: runId, seq: last.seq }, "open run found with work left to do");
  await parts.director.advance(run, { seq: last.seq, digest: last.digest }, signal);
}
