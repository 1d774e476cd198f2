/**
 * How many sandboxes are worth having ready, from what the runner measures: when they were taken, and how long a start
 * takes. Starts are made one after the other, so a pool of `most` is whole again `most` starts after it was emptied; what
 * was taken within such a stretch at the most, in the last ten minutes, is what has to be ready.
 *
 * Invariants:
 *   W6  Nobody waits for a start who would not have waited with a full pool, when the last ten minutes come again.
 *   W7  Where ten minutes are not known yet, the pool is as large as it may be; it is never empty where it may hold one.
 */
export interface Demand {
  /** When sandboxes were taken, in milliseconds, oldest first. */
  readonly takenAtMs: readonly number[];
  /** The slowest of the last starts. */
  readonly startMs: number;
  readonly sinceMs: number;
}

const HORIZON_MS = 10 * 60_000;
/** Takes remembered; more in ten minutes than that need the whole pool anyway. */
const MOST_TAKES = 1_000;
/** A slow start is forgotten little by little. */
const FORGET = 0.9;

export const noDemand = (nowMs: number): Demand => ({ takenAtMs: [], startMs: 0, sinceMs: nowMs });

export function afterTake(demand: Demand, nowMs: number): Demand {
  const recent = demand.takenAtMs.filter((at) => at > nowMs - HORIZON_MS).slice(1 - MOST_TAKES);
  return { ...demand, takenAtMs: [...recent, nowMs] };
}

export function afterStart(demand: Demand, tookMs: number): Demand {
  return { ...demand, startMs: Math.max(tookMs, demand.startMs * FORGET) };
}

/** How many to have ready now, at most `most`. */
export function worthHaving(demand: Demand, most: number, nowMs: number): number {
  if (nowMs - demand.sinceMs < HORIZON_MS) return most; // W7
  const stretchMs = demand.startMs * most;
  const taken = demand.takenAtMs.filter((at) => at > nowMs - HORIZON_MS);
  let worth = 1; // W7
  for (let first = 0, last = 0; last < taken.length; last += 1) {
    while ((taken[last] ?? 0) - (taken[first] ?? 0) > stretchMs) first += 1;
    worth = Math.max(worth, last - first + 1);
  }
  return Math.min(most, worth);
}
