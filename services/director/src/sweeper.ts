/**
 * J10: looks at every open run now and then, and does what it owes. The consumer's redeliveries already cover
 * a crash; this covers what they cannot: a record whose delivery was given up, a restored journal.
 *
 * Lifecycle: sweeps at start and every `everyMs` until the signal aborts; one sweep at a time.
 *
 *   D10 A sweep leaves a run alone while its last record is young: somebody is at work on it.
 *   D20 What a sweep reads is in proportion to the open runs, not to all of them: which are open is told by names.
 *   D21 A run that cannot be read (a corrupt record) is named in the log and left; the others are swept.
 */
import { AntiphonError } from "@antiphon/contracts";
import type { Journal, Logger } from "@antiphon/runtime";
import { outstanding } from "./core/outstanding.ts";
import type { Director } from "./director.ts";
import type { RunCache } from "./run-cache.ts";
import type { Timekeeper } from "./timekeeper.ts";

export interface SweeperParts {
  journal: Journal;
  runs: RunCache;
  director: Director;
  times: Pick<Timekeeper, "note" | "overdue">;
  log: Logger;
  now(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface SweepTiming {
  everyMs: number;
  quietMs: number;
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
  const open = await parts.journal.openRunIds(); // D20
  for (let from = 0; from < open.length && !signal.aborted; from += AT_ONCE) {
    await Promise.all(
      open.slice(from, from + AT_ONCE).map((runId) => sweepRunAlone(parts, timing, runId, signal)),
    );
  }
}

/** D21: what is wrong with one run stays with it. */
async function sweepRunAlone(
  parts: SweeperParts,
  timing: SweepTiming,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await sweepRun(parts, timing, runId, signal);
  } catch (error) {
    const { code, detail } = AntiphonError.from(error);
    parts.log.warn({ run: runId, code, detail }, "run not swept; the next sweep tries again");
  }
}

async function sweepRun(
  parts: SweeperParts,
  timing: SweepTiming,
  runId: string,
  signal: AbortSignal,
): Promise<void> {
  const run = await parts.runs.load(runId);
  const last = run.records.at(-1);
  if (run.snapshot.status !== "active" || last === undefined) return;
  if (parts.now() - last.at.getTime() < timing.quietMs) return; // D10
  parts.times.note(runId); // D16
  await parts.times.overdue(run, new Date(parts.now() - timing.quietMs));
  if (outstanding(run.snapshot).length === 0) return;
  parts.log.info({ run: runId, seq: last.seq }, "open run found with work left to do");
  await parts.director.advance(run, { seq: last.seq, digest: last.digest }, signal);
}
