/**
 * The reaper (S4): removes the containers of this instance that nobody can want any more.
 *
 * It is the second line. The first is that a sandbox ends by itself: when its runner dies, the engine closes
 * the supervisor's stdin, PID 1 exits, and AutoRemove takes the container away. The reaper is for what that
 * misses: a supervisor that cannot look at its stdin, an engine that was restarted, a runner that lost track.
 *
 * Invariants:
 *   R5  One sweep at a time; a container that cannot be removed does not stop the others.
 *   R6  Only containers with this instance's label are ever looked at.
 */
import { ownerState } from "./adapters/owner.ts";
import type { Engine } from "./adapters/docker-engine.ts";
import { REAP_INTERVAL_MS, reapReason, type ReapFacts, type ReapReason } from "./core/reap-plan.ts";

export interface ReaperOptions {
  readonly engine: Engine;
  readonly instance: string;
  readonly self: () => ReapFacts["self"];
  readonly onReaped: (id: string, reason: ReapReason) => void;
  readonly onFailure: (error: unknown) => void;
}

/** One look at the engine. Returns how many containers went. */
export async function sweep(options: ReaperOptions, nowMs: number): Promise<number> {
  const facts: ReapFacts = { nowMs, self: options.self(), ownerState };
  let removed = 0;
  for (const container of await options.engine.list(options.instance)) {
    // R6
    const reason = reapReason(container, facts);
    if (reason === null) continue;
    try {
      await options.engine.remove(container.id);
      removed += 1;
      options.onReaped(container.id, reason);
    } catch (error) {
      options.onFailure(error); // R5
    }
  }
  return removed;
}

/** Sweeps now and every 30 s until the signal aborts. */
export async function reapUntil(options: ReaperOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sweep(options, Date.now()).catch(options.onFailure);
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, REAP_INTERVAL_MS);
      timer.unref();
      signal.addEventListener("abort", done);
    });
  }
}
