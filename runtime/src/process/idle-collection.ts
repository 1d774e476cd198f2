/**
 * Collects garbage once a process that has worked is idle. V8 of Node 24 leaves what a start or a run left behind until the next
 * allocations, 8 to 10 MB a service, so an idle stack would keep 60 MB for nothing.
 *
 * A collection takes up to 0.2 s, so there is at most one after each time of work, and none before 10 s in which the
 * event loop was busy for less than a hundredth.
 */
import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const LOOK_MS = 10_000;
const IDLE_SHARE = 0.01;

export interface Load {
  /** The share of the time since the last look in which the event loop was busy. */
  readonly busy: () => number;
  readonly collect: () => void;
}

/** Returns how to stop. The process may end meanwhile. */
export function collectWhenIdle(load: Load = processLoad()): () => void {
  let hasWorked = true; // A start is work.
  const timer = setInterval(() => {
    const isIdle = load.busy() < IDLE_SHARE;
    if (isIdle && hasWorked) {
      load.collect();
      load.busy(); // A collection is no work.
    }
    hasWorked = !isIdle;
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}

export function processLoad(): Load {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as (options: object) => void;
  // The last resort also drops compiled code that was not used lately.
  const collect = (): void => gc({ type: "major", execution: "sync", flavor: "last-resort" });
  let last = performance.eventLoopUtilization();
  const busy = (): number => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
  return { busy, collect };
}
