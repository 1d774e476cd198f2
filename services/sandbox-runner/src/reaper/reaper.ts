/**
 * The reaper: removes the orphaned containers of this instance.
 *
 * It is the second line of defence. The first is that a sandbox ends by itself: when its runner dies, the engine closes
 * the supervisor's stdin, PID 1 exits, and AutoRemove removes the container. The reaper removes the rest: those whose
 * supervisor cannot read its stdin, whose engine was restarted, or whose runner lost track of them.
 *
 * One sweep runs at a time, and a container that cannot be removed does not stop the others.
 *
 * A holder is silent after limits.sandboxSilenceMs. A container's owner is gone, or does not hold it any more, by the facts of reap-plan.ts.
 *
 * Promises:
 *   sandbox-runner/S4 Because a requester or a runner can die or lose track at any moment, a sandbox and its services
 *     end with their job on every path, also when its holder falls silent, and a container whose deadline, owner or
 *     attempt is over is removed; no other is touched.
 */
import { ownerState } from "@antiphon/runtime";
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
  /** Resolves to true when the journal says that an attempt is over. */
  readonly isOver: (attempt: AttemptName) => Promise<boolean>;
  readonly onReaped: (id: string, reason: ReapReason) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Looks at the engine's containers once. Returns how many were removed. */
export async function sweep(options: ReaperOptions, nowMs: number): Promise<number> {
  const { engine, instance, onReaped, onFailure } = options;
  const facts: ReapFacts = { nowMs, self: options.self(), ownerState };
  let removed = 0;
  const remove = async ({ id }: ListedContainer, reason: ReapReason): Promise<void> => {
    await engine.remove(id);
    removed += 1;
    onReaped(id, reason);
  };
  const found = await engine.list(instance); // sandbox-runner/S4
  const judged = found.map((container) => ({ container, reason: reapReason(container, facts) }));
  for (const { container, reason } of judged) {
    if (reason !== null) await remove(container, reason).catch(onFailure);
  }
  for (const { container, reason } of judged) {
    if (reason !== null || !(await isStale(options, container, nowMs))) continue;
    await remove(container, "epoch-over").catch(onFailure); // sandbox-runner/S4
  }
  return removed;
}

/** Asks the journal, but only about containers that are too old to belong to a job that has just ended. */
async function isStale(
  { instance, isOver, onFailure }: ReaperOptions,
  { name, createdMs }: ListedContainer,
  nowMs: number,
): Promise<boolean> {
  const attempt = nowMs - createdMs > START_GRACE_MS ? attemptNamed(name, instance) : null;
  if (attempt === null) return false;
  return isOver(attempt).catch((error: unknown) => {
    onFailure(error); // The journal cannot be read: the next sweep asks again.
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
