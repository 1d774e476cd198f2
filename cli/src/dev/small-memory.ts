/** Settings with which `antiphon dev` and its services need less memory (docs/benchmarks/endurance.md). A run costs no more processor time. */

/**
 * glibc gives each of a process's ten threads a heap of its own, and they rarely allocate. One for all saves 6 to 12 MB a process. `env`: of
 * the user, whose own number counts.
 */
export const oneHeap = (env: Readonly<Record<string, string | undefined>>): { MALLOC_ARENA_MAX: string } => ({
  MALLOC_ARENA_MAX: env["MALLOC_ARENA_MAX"] ?? "1",
});

/** MiB. V8 never shrinks the young space of a busy service; this limit saves 10 to 20 MB per service. */
export const SMALL_YOUNG_SPACE = "--max-semi-space-size=4";

/** For the supervisor, which is hardly ever busy. */
export const SMALLEST_YOUNG_SPACE = "--max-semi-space-size=1";
