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
import { ownerState } from "./owner.ts";
import type { Engine, ListedContainer } from "../providers/docker/docker-engine.ts";
import {
  REAP_INTERVAL_MS,
  START_GRACE_MS,
  reapReason,
  type ReapFacts,
  type ReapReason,
} from "./reap-plan.ts";
import { attemptNamed, type AttemptName } from "./stale-epoch.ts";

export interface ReaperOptions {
  readonly engine: Engine;
  readonly instance: string;
  readonly self: () => ReapFacts["self"];
  /** Whether the journal says that an attempt is over (R8). */
  readonly isOver: (attempt: AttemptName) => Promise<boolean>;
  readonly onReaped: (id: string, reason: ReapReason) => void;
  readonly onFailure: (error: unknown) => void;
}

/** One look at the engine. Returns how many containers went. */
export async function sweep(options: ReaperOptions, nowMs: number): Promise<number> {
  const { engine, instance, onReaped, onFailure } = options;
  const facts: ReapFacts = { nowMs, self: options.self(), ownerState };
  let removed = 0;
  const remove = async ({ id }: ListedContainer, reason: ReapReason): Promise<void> => {
    await engine.remove(id);
    removed += 1;
    onReaped(id, reason);
  };
  const found = await engine.list(instance); // R6
  const judged = found.map((container) => ({ container, reason: reapReason(container, facts) }));
  for (const { container, reason } of judged) {
    if (reason !== null) await remove(container, reason).catch(onFailure); // R5
  }
  for (const { container, reason } of judged) {
    if (reason !== null || !(await isStale(options, container, nowMs))) continue;
    await remove(container, "epoch-over").catch(onFailure); // R5, R8
  }
  return removed;
}

/** R8: asked of the journal, and only for what is old enough not to be a job that has just been over. */
async function isStale(
  { instance, isOver, onFailure }: ReaperOptions,
  { name, createdMs }: ListedContainer,
  nowMs: number,
): Promise<boolean> {
  const attempt = nowMs - createdMs > START_GRACE_MS ? attemptNamed(name, instance) : null;
  if (attempt === null) return false;
  return isOver(attempt).catch((error: unknown) => {
    onFailure(error); // The journal is away: the next look asks again.
    return false;
  });
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
