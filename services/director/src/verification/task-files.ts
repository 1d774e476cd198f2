/** Whether a change stays in the files of its task. Pure. */
import type { FileScope } from "@antiphon/contracts";
import { closingMatcher, pathMatcher, type CheckedFile } from "@antiphon/git";

type Touched = Pick<CheckedFile, "path" | "from">;

/** Null if it does; else one sentence about the first file that the task may not change. */
export function outsideOf(files: readonly Touched[], scope: FileScope | undefined): string | null {
  if (scope === undefined) return null;
  const allowed = scope.allowed_files.length === 0 ? null : pathMatcher(scope.allowed_files);
  const disallowed = closingMatcher(scope.disallowed_files);
  for (const path of files.flatMap(({ path, from }) => (from === null ? [path] : [from, path]))) {
    if (disallowed.matches(path)) return `${path}: the plan does not allow this task to change it`;
    if (allowed !== null && !allowed.matches(path))
      return `${path}: outside the files of the task (${scope.allowed_files.slice(0, 5).join(", ")})`;
  }
  return null;
}
