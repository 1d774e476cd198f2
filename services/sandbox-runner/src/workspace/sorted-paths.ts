import type { Baseline } from "./collected.ts";

/** Paths in order, so that those below a directory are found without looking at all of them. */
class SortedPaths {
  readonly #paths: readonly string[];

  constructor(paths: Iterable<string>) {
    this.#paths = [...paths].sort();
  }

  /** The paths that begin with `prefix`. */
  *below(prefix: string): Generator<string> {
    for (let at = this.#first(prefix); at < this.#paths.length; at += 1) {
      const path = this.#paths[at] ?? "";
      if (!path.startsWith(prefix)) return;
      yield path;
    }
  }

  hasBelow(prefix: string): boolean {
    return this.#paths[this.#first(prefix)]?.startsWith(prefix) ?? false;
  }

  #first(prefix: string): number {
    let low = 0;
    let high = this.#paths.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#paths[middle] ?? "") < prefix) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A baseline never changes, and many sandboxes are compared with the same one. */
const known = new WeakMap<Baseline, SortedPaths>();

export function sortedPathsOf(baseline: Baseline): SortedPaths {
  const sorted = known.get(baseline) ?? new SortedPaths(baseline.keys());
  known.set(baseline, sorted);
  return sorted;
}
