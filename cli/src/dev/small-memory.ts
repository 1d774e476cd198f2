/** How `antiphon dev` and its services need less memory (docs/benchmarks/endurance.md). A run costs no more processor time. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * How glibc allocates what is no JavaScript. One heap for all ten threads of a process, which rarely allocate, saves 6 to 12 MB a
 * process. Because larger pieces are mapped each for itself, the memory that a start needs is given back: 1 to 2 MB a process.
 */
const SMALL_HEAP = {
  MALLOC_ARENA_MAX: "1",
  MALLOC_MMAP_THRESHOLD_: "32768",
  MALLOC_TRIM_THRESHOLD_: "65536",
};

/** `env`: of the user, whose own settings count. */
export function smallHeap(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(SMALL_HEAP).map(([name, value]) => [name, env[name] ?? value]));
}

/** MiB. V8 never shrinks the young space of a busy service; this limit saves 10 to 20 MB per service. */
export const SMALL_YOUNG_SPACE = "--max-semi-space-size=4";

/** For the supervisor, which is hardly ever busy. */
export const SMALLEST_YOUNG_SPACE = "--max-semi-space-size=1";

/** Time in which the last of a start is done. */
const SETTLED_MS = 10_000;

/**
 * Collects once what the start of the supervisor left behind, 9 MB, and the compiled code that it no longer uses. V8 would do so at
 * the next allocations, and there are hardly any. Services do the same after each time of work (runtime's idle-collection.ts).
 */
export function collectAfterStart(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: object) => void;
  setTimeout(() => collect({ type: "major", execution: "sync", flavor: "last-resort" }), SETTLED_MS).unref();
}
