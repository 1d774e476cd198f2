/**
 * Whether a change keeps the bounds of the deployment's policy, which no grant of a run lifts. Pure. The gateway judged
 * what could be known at intake; files, lines and paths are known only now.
 */
import type { PolicyBounds } from "@antiphon/contracts";
import { pathMatcher, type CheckedFile } from "@antiphon/git";

type Touched = Pick<CheckedFile, "path" | "from" | "added" | "removed" | "change">;

/** Null: it keeps them. Else profile, rule and value in a sentence. */
export function breachOf(files: readonly Touched[], bounds: PolicyBounds | undefined): string | null {
  if (bounds === undefined) return null;
  const { profiles, max_files, max_lines, protected_paths = [] } = bounds;
  const told = (rule: string, what: string): string =>
    `${what} (policy ${profiles.join(", ")}, rule ${rule})`;
  if (max_files !== undefined && files.length > max_files)
    return told("maxFilesPerCommit", `${files.length} files, at most ${max_files} are allowed`);
  const lines = files.reduce((sum, { added, removed }) => sum + added + removed, 0);
  if (max_lines !== undefined && lines > max_lines)
    return told("maxLinesPerCommit", `${lines} lines, at most ${max_lines} are allowed`);
  const guarded = pathMatcher(protected_paths.map(folded));
  const path = files.flatMap(touchedPaths).find((one) => guarded.matches(folded(one)));
  return path === undefined ? null : told("protectedPaths", `${path} may not be touched`);
}

/** What a rename leaves is touched, too; what a copy reads is not. */
function touchedPaths({ path, from, change }: Touched): string[] {
  return change === "rename" && from !== null ? [from, path] : [path];
}

/** On some file systems two cases are one file. */
function folded(path: string): string {
  return path.normalize("NFC").toLowerCase();
}
