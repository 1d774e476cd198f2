/**
 * Waits for all of them, however they end, and throws then what the first that failed threw. For an end in order:
 * `Promise.all` would go on while the others are still at it.
 */
export async function allDone(works: Iterable<Promise<unknown>>): Promise<void> {
  for (const one of await Promise.allSettled(works)) if (one.status === "rejected") throw one.reason;
}
