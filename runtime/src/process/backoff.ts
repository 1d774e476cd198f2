export interface BackoffPolicy {
  /** Delay of the first retry. */
  baseMs: number;
  /** No delay is longer. */
  capMs: number;
}

/**
 * Exponential delay, half of it random, so that processes that lost their server together do not all return at once.
 * `random` is in [0, 1).
 */
export function backoffMs(attempt: number, policy: BackoffPolicy, random: number): number {
  const exponent = Math.min(attempt, 30);
  const ceiling = Math.min(policy.capMs, policy.baseMs * 2 ** exponent);
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}
