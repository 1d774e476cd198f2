/**
 * The names in a patch. A file is named in up to three places (the `diff --git` line, `rename from` and `to`, `---` and
 * `+++`), plain or C-quoted. They must agree, and each must be written as git writes it.
 */
import { decodePath, encodePath, unquotePath } from "../objects/git-path.ts";
import type { PatchCursor } from "./patch-cursor.ts";
import { refuse } from "./patch-refusal.ts";

export interface Names {
  old: string;
  new: string;
}

/** Length of a path of 1,024 bytes, all escaped, with quotes and prefix. A line may hold two; a longer one is refused unread. */
const MAX_NAME = 4 * 1024 + 16;

function requireShort(cursor: PatchCursor, text: string): void {
  if (text.length <= 2 * MAX_NAME) return;
  refuse("ANT_PATCH_PATH", "path.too-long", "too long", { path: null, line: cursor.at + 1 });
}

/** A whole name: C-quoted, or plain if it contains nothing that needs quotes. */
export function readName(cursor: PatchCursor, text: string): string {
  requireShort(cursor, text);
  if (text.startsWith('"')) {
    const unquoted = unquote(text);
    if (unquoted === null || unquoted.rest !== "")
      cursor.fail("MALFORMED", "name.quoting", "a misquoted name");
    return unquoted.path;
  }
  if (/["\\\x00-\x1f\x7f]/.test(text))
    cursor.fail("MALFORMED", "name.quoting", "a name that should be quoted");
  return decodePath(Buffer.from(text, "latin1"));
}

/** Lines are bytes as latin1; inside quotes a byte beyond ASCII means the same as its escape. */
function unquote(text: string): { path: string; rest: string } | null {
  return unquotePath(text.replace(/[\x80-\xff]/g, (char) => `\\${char.charCodeAt(0).toString(8)}`));
}

/** The `---` and `+++` lines; /dev/null gives null. Returns null when the lines are absent. */
export function readSides(cursor: PatchCursor): { old: string | null; new: string | null } | null {
  if (!cursor.line.startsWith("--- ")) return null;
  const old = sideName(cursor, "a/");
  cursor.at += 1;
  if (!cursor.line.startsWith("+++ ")) cursor.fail("HEADER", "header.no-plus", "`---` without `+++`");
  const next = sideName(cursor, "b/");
  cursor.at += 1;
  if (old === null && next === null) cursor.fail("HEADER", "header.null", "/dev/null on both sides");
  return { old, new: next };
}

function sideName(cursor: PatchCursor, prefix: string): string | null {
  let text = cursor.line.slice(4);
  // Git adds a tab to a name with a space, so that no timestamp can be read into it.
  if (text.endsWith("\t")) text = text.slice(0, -1);
  return text === "/dev/null" ? null : without(cursor, prefix, readName(cursor, text));
}

function without(cursor: PatchCursor, prefix: string, name: string): string {
  if (name.startsWith(prefix)) return name.slice(prefix.length);
  return cursor.fail("HEADER", "header.prefix", `a name that does not start with ${prefix}`);
}

/** Names on the `diff --git` line. Null when they are plain and differ, so that only the other places can tell. */
function openingNames(cursor: PatchCursor, text: string): Names | null {
  requireShort(cursor, text);
  if (text.startsWith('"')) {
    const left = unquote(text);
    if (left === null || !left.rest.startsWith(" "))
      cursor.fail("MALFORMED", "name.quoting", "a misquoted name");
    return {
      old: without(cursor, "a/", left.path),
      new: without(cursor, "b/", readName(cursor, left.rest.slice(1))),
    };
  }
  if (text.endsWith('"')) {
    const gap = text.indexOf(' "');
    if (gap === -1) cursor.fail("MALFORMED", "name.quoting", "a misquoted name");
    return {
      old: without(cursor, "a/", readName(cursor, text.slice(0, gap))),
      new: without(cursor, "b/", readName(cursor, text.slice(gap + 1))),
    };
  }
  without(cursor, "a/", readName(cursor, text));
  const half = (text.length - 1) / 2;
  if (!Number.isInteger(half) || text[half] !== " ") return null;
  const left = text.slice(0, half);
  const right = text.slice(half + 1);
  if (left.slice(2) !== right.slice(2) || !right.startsWith("b/")) return null;
  const path = readName(cursor, left.slice(2));
  return { old: path, new: path };
}

/** Reconciles the three places, or refuses. */
export function agreedNames(
  cursor: PatchCursor,
  opening: string,
  moved: Names | null,
  sides: { old: string | null; new: string | null } | null,
): Names {
  const stated = openingNames(cursor, opening);
  const body =
    sides === null ? null : { old: sides.old ?? sides.new ?? "", new: sides.new ?? sides.old ?? "" };
  const claims = [stated, moved, body].filter((claim) => claim !== null);
  const [first] = claims;
  if (first === undefined) return cursor.failFile("HEADER", "header.names", "no line says which file it is");
  if (claims.some((claim) => claim.old !== first.old || claim.new !== first.new)) {
    cursor.failFile("HEADER", "header.mismatch", "its lines name different files");
  }
  // Two plain names with spaces cannot be split reliably, so the line must equal what git would write.
  const latin = (path: string): string => encodePath(path).toString("latin1");
  if (stated === null && opening !== `a/${latin(first.old)} b/${latin(first.new)}`) {
    cursor.failFile("HEADER", "header.mismatch", "its lines name different files");
  }
  if (moved === null && first.old !== first.new) {
    cursor.failFile("HEADER", "header.silent-rename", "two names without a rename");
  }
  return first;
}
