/**
 * Decides how many sandboxes are worth having ready, from two measures: when sandboxes were taken, and how long a start
 * takes. Starts run one after the other, so a pool of `most` is full again `most` starts after it was emptied. The
 * largest number taken within such a stretch in the last ten minutes is the number to have ready.
 *
 * If the next ten minutes are like the last, no job waits that would not have waited with a full pool. In the first ten
 * minutes the pool is as large as it may be. It is never empty when it may hold one.
 */
export interface Demand {
  /** Times at which sandboxes were taken, in milliseconds, oldest first. */
  readonly takenAtMs: readonly number[];
  /** The duration of the slowest recent start. */
  readonly startMs: number;
  readonly sinceMs: number;
}

const HORIZON_MS = 10 * 60_000;
/** Most takes remembered. More than this in ten minutes need the whole pool anyway. */
const MOST_TAKES = 1_000;
/** The factor by which a slow start is forgotten at each later start. */
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
  if (nowMs - demand.sinceMs < HORIZON_MS) return most;
  const stretchMs = demand.startMs * most;
  const taken = demand.takenAtMs.filter((at) => at > nowMs - HORIZON_MS);
  let worth = 1;
  for (let first = 0, last = 0; last < taken.length; last += 1) {
    while ((taken[last] ?? 0) - (taken[first] ?? 0) > stretchMs) first += 1;
    worth = Math.max(worth, last - first + 1);
  }
  return Math.min(most, worth);
}
