/**
 * Reads a patch and decides whether it may be applied. Pure: only the text and the rules decide. Each refusal carries a
 * code, a rule within the code, the path and the line. Sizes and counts are bounded.
 *
 * If a guard yields to proof, its path is named in the answer, and the caller requires a check that fails without the
 * change.
 *
 * Promises:
 *   git/G4 Because an agent wrote the patch, it is refused if it makes anything but regular files (100644, 100755), leaves
 *     the tree or the task's scope, touches .git or .gitmodules, or changes a guarded path without a grant.
 */
import { closingMatcher, pathMatcher, type PathMatcher } from "./glob.ts";
import { checkPath, foldedPath } from "./path-rules.ts";
import type { Guard } from "../protection/guard.ts";
import { parsePatch } from "./patch-parser.ts";
import type { FilePatch } from "./file-patch.ts";
import { PatchRefused, refuse, type Refusal } from "./patch-refusal.ts";

export interface PatchRules {
  /** Globs of paths the task may change; empty: all paths. */
  scope?: readonly string[];
  /** Globs of protected paths it may change nevertheless. */
  grants?: readonly string[];
  /** The result of `protectionOf()` for the base. */
  guards?: readonly Guard[];
  /** Default limits.patchFiles. */
  maxFiles?: number;
}

export interface CheckedFile {
  path: string;
  change: FilePatch["change"];
  /** The mode after the change; null when the patch leaves it unchanged. */
  mode: string | null;
  /** Source path of a rename or copy. */
  from: string | null;
  added: number;
  removed: number;
  binary: boolean;
}

/** A path that may be changed only if the check fails without the change. */
export interface Unproven {
  path: string;
  why: string;
}

export type PatchCheck = { ok: true; files: CheckedFile[]; unproven: Unproven[] } | ({ ok: false } & Refusal);

/** Further protected paths that a refusal names. */
const MAX_NAMED = 4;

/** A copy takes few bytes in a patch and produces a whole file. */
const MAX_COPIES = 20;

export function checkPatch(patch: string | Buffer, rules: PatchRules = {}): PatchCheck {
  try {
    const files = parsePatch(patch, rules);
    for (const file of files) {
      checkModes(file);
      for (const path of new Set([file.oldPath, file.newPath])) if (path !== null) checkPath(path, file.line);
    }
    checkOverlaps(files);
    return { ok: true, unproven: checkRules(files, rules), files: files.map(checked) };
  } catch (thrown) {
    if (thrown instanceof PatchRefused) return { ok: false, ...thrown.refusal };
    throw thrown;
  }
}

function checked(file: FilePatch): CheckedFile {
  const moved = file.change === "rename" || file.change === "copy";
  return {
    path: file.newPath ?? file.oldPath ?? "",
    change: file.change,
    mode: file.newMode,
    from: moved ? file.oldPath : null,
    added: file.added,
    removed: file.removed,
    binary: file.binary,
  };
}

/** git/G4: a link leads out of the tree, a gitlink to other code. */
function checkModes(file: FilePatch): void {
  const where = { path: file.newPath ?? file.oldPath, line: file.line };
  for (const mode of [file.oldMode, file.newMode]) {
    if (mode === null || mode === "100644" || mode === "100755") continue;
    if (mode === "120000") refuse("ANT_PATCH_SYMLINK", "mode.symlink", "a symbolic link", where);
    if (mode === "160000") refuse("ANT_PATCH_GITLINK", "mode.gitlink", "a submodule", where);
    refuse("ANT_PATCH_MODE", "mode.other", `mode ${mode}`, where);
  }
}

/** Each path may have only one section, because the order of two sections is ambiguous. */
function checkOverlaps(files: readonly FilePatch[]): void {
  const touched = new Map<string, FilePatch>();
  let copies = 0;
  for (const file of files) {
    const paths = file.change === "copy" ? [file.newPath] : [...new Set([file.oldPath, file.newPath])];
    for (const path of paths) {
      if (path === null) continue;
      const where = { path, line: file.line };
      if (touched.has(path)) refuse("ANT_PATCH_DUPLICATE", "duplicate.path", "touched twice", where);
      touched.set(path, file);
    }
    if (file.change === "copy" || file.change === "rename") {
      if (file.oldPath === file.newPath) {
        refuse("ANT_PATCH_HEADER", "header.rename", "a rename to itself", {
          path: file.newPath,
          line: file.line,
        });
      }
    }
    if (file.change === "copy") {
      copies += 1;
      if (copies > MAX_COPIES) {
        refuse("ANT_PATCH_TOO_LARGE", "size.copies", `more than ${MAX_COPIES} copies`, { line: file.line });
      }
    }
  }
  checkSpellings(files);
  for (const file of files) checkNesting(file, touched);
  for (const file of files) {
    if (file.change === "copy" && file.oldPath !== null && touched.has(file.oldPath)) {
      const where = { path: file.oldPath, line: file.line };
      refuse("ANT_PATCH_DUPLICATE", "duplicate.copy-source", "copied and touched in one patch", where);
    }
  }
}

/** Refuses two paths that are equal where case does not count. A repository with such a pair may still change it. */
function checkSpellings(files: readonly FilePatch[]): void {
  const seen = new Map<string, FilePatch>();
  for (const file of files) {
    if (file.newPath === null) continue;
    const twin = seen.get(foldedPath(file.newPath));
    if (twin !== undefined && (twin.change !== "modify" || file.change !== "modify")) {
      const message = `the same as ${twin.newPath ?? ""} where case does not count`;
      refuse("ANT_PATCH_DUPLICATE", "duplicate.case", message, { path: file.newPath, line: file.line });
    }
    seen.set(foldedPath(file.newPath), file);
  }
}

/** A new path cannot be below a path that is a file after the change. */
function checkNesting(file: FilePatch, touched: ReadonlyMap<string, FilePatch>): void {
  const path = file.newPath;
  if (path === null) return;
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
    const above = path.slice(0, at);
    if (touched.get(above)?.newPath === above) {
      refuse("ANT_PATCH_DUPLICATE", "duplicate.nesting", `${above} is a file and a directory`, {
        path,
        line: file.line,
      });
    }
  }
}

function checkRules(files: readonly FilePatch[], rules: PatchRules): Unproven[] {
  const scope = rules.scope === undefined || rules.scope.length === 0 ? null : pathMatcher(rules.scope);
  const granted = pathMatcher(rules.grants ?? []);
  const guarded = guardFinder(rules.guards ?? []);
  const unproven: Unproven[] = [];
  const closed: Closed[] = [];
  for (const file of files) {
    // A copy does not change its source.
    const paths = file.change === "copy" ? [file.newPath] : [...new Set([file.oldPath, file.newPath])];
    for (const path of paths) {
      if (path === null) continue;
      checkScope(path, file.line, scope, granted);
      if (granted.matches(path)) continue;
      const isEmpty = file.change === "add" && file.added === 0 && !file.binary;
      const guard = guarded(path, isEmpty); // git/G4
      if (guard?.unless === "proof") unproven.push({ path, why: guard.why });
      else if (guard !== null) closed.push({ path, line: file.line, guard });
    }
  }
  const [first, ...others] = closed;
  if (first === undefined) return unproven;
  const { path, line, guard } = first;
  refuse("ANT_PATCH_PROTECTED", guard.rule, closedText(guard, others), { path, line });
}

/** A path that no grant opens. */
interface Closed {
  readonly path: string;
  readonly line: number;
  readonly guard: Guard;
}

/** All at once, so that nobody grants or mends one path after the other. The first path stands before the message. */
function closedText({ why }: Guard, others: readonly Closed[]): string {
  const named = others.slice(0, MAX_NAMED).map(({ path, guard }) => `; ${path}: protected: ${guard.why}`);
  const more = others.length - named.length;
  return `protected: ${why}${named.join("")}${more > 0 ? `; and ${more} more` : ""}`;
}

function checkScope(path: string, line: number, scope: PathMatcher | null, granted: PathMatcher): void {
  if (scope !== null && !scope.matches(path) && !granted.matches(path)) {
    refuse("ANT_PATCH_SCOPE", "scope.outside", "outside the task's scope", { path, line });
  }
}

/** The guard of a path. A guard that nothing opens takes precedence over one that proof opens. */
function guardFinder(guards: readonly Guard[]): (path: string, isEmpty: boolean) => Guard | null {
  // git/G4: on some systems the same path in another case is the same file.
  const any = closingMatcher(guards.map(({ glob }) => foldedPath(glob)));
  return (path, isEmpty) => {
    const folded = foldedPath(path);
    if (!any.matches(folded)) return null;
    const matching = guards.filter(
      ({ glob, unless }) =>
        !(unless === "empty" && isEmpty) && closingMatcher([foldedPath(glob)]).matches(folded),
    );
    return matching.find(({ unless }) => unless !== "proof") ?? matching[0] ?? null;
  };
}
