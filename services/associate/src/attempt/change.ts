/** Combines two successive changes into one, and leaves out what is no part of the work. */
import type { FileMode } from "@antiphon/contracts";
import { pathMatcher } from "@antiphon/git";

interface Named {
  readonly path: string;
  readonly mode: FileMode;
}

export interface ChangeOf<F extends Named> {
  readonly files: readonly F[];
  readonly deletions: readonly string[];
}

/** The second change wins: its files and deletions replace those of the first, and a file that it writes is not deleted. */
export function merged<F extends Named>(first: ChangeOf<F>, second: ChangeOf<F>): ChangeOf<F> {
  const written = new Set(second.files.map((file) => file.path));
  const removed = new Set(second.deletions);
  const kept = first.files.filter((file) => !written.has(file.path) && !removed.has(file.path));
  const deletions = new Set([...first.deletions, ...second.deletions].filter((path) => !written.has(path)));
  return { files: [...kept, ...second.files], deletions: [...deletions] };
}

/** The change without the files that match a glob: those that an agent keeps for itself. */
export function withoutJunk<F extends Named>(change: ChangeOf<F>, junk: readonly string[]): ChangeOf<F> {
  if (junk.length === 0) return change;
  const own = pathMatcher(junk);
  return {
    files: change.files.filter(({ path }) => !own.matches(path)),
    deletions: change.deletions.filter((path) => !own.matches(path)),
  };
}
