/**
 * Waits until all of them have ended, then throws the error of the first that failed. An orderly shutdown needs this:
 * `Promise.all` would return while the others are still running.
 */
export async function allDone(works: Iterable<Promise<unknown>>): Promise<void> {
  for (const one of await Promise.allSettled(works)) if (one.status === "rejected") throw one.reason;
}
