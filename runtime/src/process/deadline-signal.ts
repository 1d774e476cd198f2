/**
 * A signal that aborts when its time is over, or when a caller's does.
 *
 * `AbortSignal.any` only holds its sources weakly, and a signal of `AbortSignal.timeout` that nothing else holds may be
 * collected before its time, so the combined signal never aborts. A timer holds a controller.
 */
export function deadlineSignal(ms: number, caller?: AbortSignal): AbortSignal {
  const late = new AbortController();
  const abort = (): void => late.abort(new DOMException("the time is over", "TimeoutError"));
  setTimeout(abort, ms).unref();
  return caller === undefined ? late.signal : AbortSignal.any([late.signal, caller]);
}
