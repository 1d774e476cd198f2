// 95 % intervals of a share and of a mean, from few observations. Pure.

export interface Estimate {
  readonly estimate: number;
  /** Null: there are too few observations for an interval. */
  readonly low: number | null;
  readonly high: number | null;
}

const Z = 1.959964;
const RESAMPLES = 2_000;
const TAIL = 0.025;

/** By Wilson: it stays within 0 and 1, and is honest about 0 of n and n of n. Null: nothing was observed. */
export function shareOf(hits: number, of: number): Estimate | null {
  if (of === 0) return null;
  const share = hits / of;
  const z2 = (Z * Z) / of;
  const middle = (share + z2 / 2) / (1 + z2);
  const half = (Z * Math.sqrt((share * (1 - share)) / of + z2 / of / 4)) / (1 + z2);
  return { estimate: share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

/**
 * By the bootstrap, because costs and times are skewed: the middle 95 % of the means of resamples. The resamples are the same each
 * time, so the same observations give the same interval. Null: nothing was observed.
 */
export function meanOf(values: readonly number[]): Estimate | null {
  if (values.length === 0) return null;
  const estimate = mean(values);
  if (values.length < 2) return { estimate, low: null, high: null };
  const next = numbers(values.length);
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let n = 0; n < values.length; n += 1) sum += values[next()] ?? 0;
    return sum / values.length;
  }).sort((a, b) => a - b);
  return { estimate, low: at(means, TAIL), high: at(means, 1 - TAIL) };
}

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** Numbers below `below`, the same ones each time (mulberry32). */
function numbers(below: number): () => number {
  let state = 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}
