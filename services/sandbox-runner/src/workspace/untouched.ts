/**
 * The part of a baseline that is as it was, by a supervisor's survey. Pure. It is asked path by path and never listed: of
 * 100,000 files only those that were touched cost anything.
 */
import type { Baseline, BaselineEntry } from "./collected.ts";
import { sortedPathsOf } from "./sorted-paths.ts";
import type { Survey } from "./survey.ts";

export class Untouched {
  readonly #baseline: Baseline;
  readonly #remembered: Baseline;
  readonly #changed: ReadonlySet<string>;
  readonly #missing: ReadonlySet<string>;

  /** `remembered`: what the survey was made against. The job may have put other files over it since. */
  constructor(baseline: Baseline, remembered: Baseline, { changed, missing }: Survey) {
    this.#baseline = baseline;
    this.#remembered = remembered;
    this.#changed = new Set(changed);
    this.#missing = missing;
  }

  has(path: string): boolean {
    if (this.#changed.has(path) || this.#missing.has(path)) return false;
    const entry = this.#remembered.get(path);
    const before = this.#baseline.get(path);
    return entry !== undefined && before !== undefined && sameEntry(before, entry);
  }

  hasBelow(directory: string): boolean {
    for (const path of sortedPathsOf(this.#remembered).below(`${directory}/`))
      if (this.has(path)) return true;
    return false;
  }

  /** The paths of the baseline that may be changed or gone. */
  suspects(): Iterable<string> {
    const told = this.#baseline === this.#remembered;
    const all = told ? [...this.#changed, ...this.#missing] : [...this.#baseline.keys()];
    return all.filter((path) => this.#baseline.has(path) && !this.has(path));
  }

  /** The remembered files that the survey calls unchanged although the job had put others over them. */
  replaced(): readonly string[] {
    if (this.#baseline === this.#remembered) return [];
    return [...this.#remembered.keys()].filter(
      (path) => !this.#changed.has(path) && !this.#missing.has(path) && !this.has(path),
    );
  }
}

function sameEntry(a: BaselineEntry, b: BaselineEntry): boolean {
  if (a === b) return true; // nearly always
  if (a.kind === "symlink" || b.kind === "symlink") {
    return a.kind === "symlink" && b.kind === "symlink" && a.target === b.target;
  }
  return a.mode === b.mode && a.sha256 === b.sha256;
}
