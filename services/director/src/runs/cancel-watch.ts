/**
 * Looks for a run's `cancel` record while an effect that takes long is under way, so that a clean room ends as
 * soon as any other sandbox of a canceled run. Looking is what counts; no hint has to arrive.
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
      () => undefined, // No word from the journal now; the next tick asks again.
    );
  }, everyMs);
  const release = (): void => clearInterval(timer);
  abort.signal.addEventListener("abort", release, { once: true });
  return { signal: abort.signal, release };
}
