/**
 * Reads a run's `cancel` record again and again while a long effect is under way, so that a clean room of a canceled
 * run ends as soon as its other sandboxes. It reads the journal and depends on no hint.
 *
 * Lifecycle: watching -> canceled (the signal aborted) or released.
 */
import { limits } from "@antiphon/contracts";
import type { Journal } from "@antiphon/runtime";

export interface CancelWatch {
  readonly signal: AbortSignal;
  release(): void;
}

export function watchForCancel(
  journal: Pick<Journal, "read">,
  runId: string,
  everyMs: number = limits.claimHeartbeatMs,
): CancelWatch {
  const abort = new AbortController();
  const timer = setInterval(() => {
    journal.read(runId, ["cancel"]).then(
      (records) => {
        if (records.length > 0) abort.abort();
      },
      () => undefined, // The journal does not answer now; the next tick asks again.
    );
  }, everyMs);
  const release = (): void => clearInterval(timer);
  abort.signal.addEventListener("abort", release, { once: true });
  return { signal: abort.signal, release };
}
