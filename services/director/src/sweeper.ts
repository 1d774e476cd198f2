/**
 * J10: looks at every open run now and then, and does what it owes. The consumer's redeliveries already cover
 * a crash; this covers what they cannot: a record whose delivery was given up, a restored journal.
 *
 * Lifecycle: sweeps at start and every `everyMs` until the signal aborts; one sweep at a time.
 *
 *   D10 A sweep leaves a run alone while its last record is young: somebody is at work on it.
 */
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

export async function sweepForever(
  parts: SweeperParts,
  timing: SweepTiming,
  signal: AbortSignal,
): Promise<void> {
  /** Runs seen closed: they stay so (J6), and need not be read again. */
  const over = new Set<string>();
  while (!signal.aborted) {
    try {
      await sweep(parts, timing, over, signal);
    } catch (error) {
      parts.log.warn({ err: error }, "sweep not finished; the next one tries again");
    }
    await parts.sleep(timing.everyMs, signal);
  }
}

async function sweep(
  parts: SweeperParts,
  timing: SweepTiming,
  over: Set<string>,
  signal: AbortSignal,
): Promise<void> {
  const kept = await parts.journal.runIds();
  const known = new Set(kept);
  for (const runId of over) if (!known.has(runId)) over.delete(runId); // As many as the journal holds, no more.
  for (const runId of kept) {
    if (signal.aborted) return;
    if (over.has(runId)) continue;
    const run = await parts.runs.load(runId);
    const last = run.records.at(-1);
    if (run.snapshot.status !== "active") {
      over.add(runId);
      continue;
    }
    if (last === undefined || parts.now() - last.at.getTime() < timing.quietMs) continue; // D10
    parts.times.note(runId); // D16
    await parts.times.overdue(run, new Date(parts.now() - timing.quietMs));
    if (outstanding(run.snapshot).length === 0) continue;
    parts.log.info({ run: runId, seq: last.seq }, "open run found with work left to do");
    await parts.director.advance(run, { seq: last.seq, digest: last.digest }, signal);
  }
}
