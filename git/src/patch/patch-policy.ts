/**
 * L1: reads a patch and decides whether it may be applied at all. Pure: the text and the rules decide, nothing
 * else; git is not asked. Each refusal names a code, a rule within it, the path and the line.
 *
 * Invariants:
 *   L1  Only 100644 and 100755; no symbolic link, gitlink or .gitmodules; no path outside the tree or inside
 *       .git; within the task's scope; bounded.
 *   V3  A guarded path is touched only with a grant; the refusal says which guard it is. Where a guard yields to proof, the
 *       path is named in the answer, and the caller holds the change to a check that fails without it.
 */
import { limits } from "@antiphon/contracts";
import { pathMatcher, type PathMatcher } from "./glob.ts";
import { checkPath, foldedPath } from "./path-rules.ts";
import type { Guard } from "../protection/guard.ts";
import { parsePatch, type FilePatch } from "./patch-parser.ts";
import { PatchRefused, refuse, type Refusal } from "./patch-refusal.ts";

export interface PatchRules {
  /** Globs of what the task may change; empty: everything. */
  scope?: readonly string[];
  /** Globs of protected paths it may change all the same. */
  grants?: readonly string[];
  /** `protectionOf()` the base. */
  guards?: readonly Guard[];
  /** Default 200 (limits.patchFiles). */
  maxFiles?: number;
  /** Default 8 MiB (limits.patchBytes). */
  maxBytes?: number;
  /** Of all binary contents together. Default 64 MiB (limits.sandboxFileBytes). */
  maxBinaryBytes?: number;
}

export interface CheckedFile {
  path: string;
  change: FilePatch["change"];
  /** Its mode afterwards; null when the patch leaves it as it is. */
  mode: string | null;
  /** Where a rename or copy comes from. */
  from: string | null;
  added: number;
  removed: number;
  binary: boolean;
}

/** A path that may be touched only if the check fails without the change. */
export interface Unproven {
  path: string;
  why: string;
}

export type PatchCheck = { ok: true; files: CheckedFile[]; unproven: Unproven[] } | ({ ok: false } & Refusal);

/** A copy is cheap to write and costs a whole file to make. */
const MAX_COPIES = 20;

export function checkPatch(patch: string | Buffer, rules: PatchRules = {}): PatchCheck {
  try {
    const files = parsePatch(patch, {
      maxFiles: rules.maxFiles ?? limits.patchFiles,
      maxBytes: rules.maxBytes ?? limits.patchBytes,
      maxBinaryBytes: rules.maxBinaryBytes ?? limits.sandboxFileBytes,
    });
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

/** L1: a link is a way out of the tree, a gitlink a way to other code. */
function checkModes(file: FilePatch): void {
  const where = { path: file.newPath ?? file.oldPath, line: file.line };
  for (const mode of [file.oldMode, file.newMode]) {
    if (mode === null || mode === "100644" || mode === "100755") continue;
    if (mode === "120000") refuse("ANT_PATCH_SYMLINK", "mode.symlink", "a symbolic link", where);
    if (mode === "160000") refuse("ANT_PATCH_GITLINK", "mode.gitlink", "a submodule", where);
    refuse("ANT_PATCH_MODE", "mode.other", `mode ${mode}`, where);
  }
}

/** One path, one section: two sections of one path can be read in two orders. */
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

/** Two files that are one where case does not count; a repository that has such a pair may go on changing it. */
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

/** A path that is made cannot be below another path that is made or stays. */
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
  for (const file of files) {
    // What a copy reads is not changed by it.
    const paths = file.change === "copy" ? [file.newPath] : [...new Set([file.oldPath, file.newPath])];
    for (const path of paths) {
      if (path === null) continue;
      checkScope(path, file.line, scope, granted);
      if (granted.matches(path)) continue;
      const isEmpty = file.change === "add" && file.added === 0 && !file.binary;
      const guard = guarded(path, isEmpty); // V3
      if (guard?.unless === "proof") unproven.push({ path, why: guard.why });
      else if (guard !== null)
        refuse("ANT_PATCH_PROTECTED", guard.rule, `protected: ${guard.why}`, { path, line: file.line });
    }
  }
  return unproven;
}

function checkScope(path: string, line: number, scope: PathMatcher | null, granted: PathMatcher): void {
  if (scope !== null && !scope.matches(path) && !granted.matches(path)) {
    refuse("ANT_PATCH_SCOPE", "scope.outside", "outside the task's scope", { path, line });
  }
}

/** The guard of a path: one that nothing opens comes before one that proof opens. */
function guardFinder(guards: readonly Guard[]): (path: string, isEmpty: boolean) => Guard | null {
  // V3: the same path in another case is the same file for some.
  const any = pathMatcher(guards.map(({ glob }) => foldedPath(glob)));
  return (path, isEmpty) => {
    const folded = foldedPath(path);
    if (!any.matches(folded)) return null;
    const matching = guards.filter(
      ({ glob, unless }) =>
        !(unless === "empty" && isEmpty) && pathMatcher([foldedPath(glob)]).matches(folded),
    );
    return matching.find(({ unless }) => unless !== "proof") ?? matching[0] ?? null;
  };
}
