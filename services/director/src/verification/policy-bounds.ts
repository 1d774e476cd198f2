/**
 * Whether a change keeps the bounds of the deployment's policy. Pure. The gateway checks what is known at intake;
 * files, lines and paths are known only when there is a patch.
 *
 * Promises:
 *   director/D10 Because the bounds come from the intent record and not from the run's grants, a change that breaks
 *     one is refused with the profile, the rule and the value, whatever was granted.
 */
import type { PolicyBounds } from "@antiphon/contracts";
import { closingMatcher, type CheckedFile } from "@antiphon/git";

export type Touched = Pick<CheckedFile, "path" | "from" | "added" | "removed" | "change">;

/** Null if the change keeps the bounds; else one sentence with profile, rule and value. */
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
  const guarded = closingMatcher(protected_paths.map(folded));
  const path = files.flatMap(touchedPaths).find((one) => guarded.matches(folded(one)));
  return path === undefined ? null : told("protectedPaths", `${path} may not be touched`);
}

/** A rename also touches the path it leaves; a copy does not touch the path it reads. */
export function touchedPaths({ path, from, change }: Touched): string[] {
  return change === "rename" && from !== null ? [from, path] : [path];
}

/** On some file systems two spellings in other case are one file. */
export function folded(path: string): string {
  return path.normalize("NFC").toLowerCase();
}
