/**
 * Listeners of one abort signal that hundreds of operations share. `addEventListener` and `removeEventListener` walk all
 * listeners of the signal, so each costs more the more operations are under way; here both take the same short time.
 *
 * Each signal gets one real listener, which calls the others once, in the order in which they came. They must not throw.
 */
const groups = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `listener` when the signal aborts; returns how to stop that. A signal that was aborted before calls nothing. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const group = groups.get(signal) ?? listened(signal);
  const call = (): void => listener(); // The same listener may be added twice.
  group.add(call);
  return () => void group.delete(call);
}

function listened(signal: AbortSignal): Set<() => void> {
  const group = new Set<() => void>();
  groups.set(signal, group);
  const callAll = (): void => {
    for (const call of group) call();
    group.clear();
  };
  signal.addEventListener("abort", callAll, { once: true });
  return group;
}
