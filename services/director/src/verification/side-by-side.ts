/**
 * Runs several rooms at once. If one breaks, stops the others, waits for them and throws the first error: left alone, no cancel
 * of the run would reach them, and the next try would run beside them.
 */
export async function sideBySide<Outcomes extends readonly unknown[]>(
  rooms: readonly [...{ [At in keyof Outcomes]: (stop: AbortSignal) => Promise<Outcomes[At]> }],
  signal: AbortSignal,
): Promise<Outcomes> {
  const broken = new AbortController();
  const stop = AbortSignal.any([signal, broken.signal]);
  const all = rooms.map((room) => room(stop));
  try {
    return (await Promise.all(all)) as unknown as Outcomes;
  } catch (error) {
    broken.abort();
    await Promise.allSettled(all);
    throw error;
  }
}
