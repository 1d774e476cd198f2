/**
 * Reads a run's `cancel` record again and again while a long effect is under way, so that a clean room of a canceled
 * run ends as soon as its other sandboxes. It reads the journal and depends on no hint.
 *
 * Lifecycle: watching -> canceled (the signal aborted), stopped (the caller's signal aborted this one) or released.
 */
import { limits } from "@antiphon/contracts";
import { onAbort, type Journal } from "@antiphon/runtime";

export interface CancelWatch {
  /** Aborted by a cancel, and by the caller's own signal. */
  readonly signal: AbortSignal;
  /** Whether a cancel aborted it. */
  readonly isCanceled: boolean;
  release(): void;
}

export function watchForCancel(
  journal: Pick<Journal, "read">,
  runId: string,
  caller: AbortSignal,
): CancelWatch {
  const abort = new AbortController();
  let isCanceled = false;
  const stop = (): void => abort.abort(caller.reason);
  const timer = setInterval(() => {
    journal.read(runId, ["cancel"]).then(
      (records) => {
        if (records.length === 0 || abort.signal.aborted) return;
        isCanceled = true;
        abort.abort();
      },
      () => undefined, // The journal does not answer now; the next tick asks again.
    );
  }, limits.claimHeartbeatMs);
  const stay = onAbort(caller, stop); // AbortSignal.any costs several times as much
  const release = (): void => {
    clearInterval(timer);
    stay();
  };
  abort.signal.addEventListener("abort", release, { once: true });
  if (caller.aborted) stop();
  return {
    signal: abort.signal,
    get isCanceled() {
      return isCanceled;
    },
    release,
  };
}
