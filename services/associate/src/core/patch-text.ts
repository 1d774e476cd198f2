/**
 * A Patch.v0 (seed 002) as one text for `git apply`: every file's diff under a git header of its own. Agents write
 * diffs in three dialects (with a git header, with only ---/+++ lines, bare hunks); all are brought to the first.
 */
import { AntiphonError } from "@antiphon/contracts";
import type { Patch } from "@antiphon/contracts";

const NOTHING = "/dev/null";

/** Throws ANT_PATCH_MALFORMED naming the file whose diff has no hunk. */
export function patchText(patch: Patch): string {
  return patch.files.map(({ path, diff }) => withHeader(path, diff)).join("");
}

function withHeader(path: string, diff: string): string {
  const text = diff.endsWith("\n") ? diff : `${diff}\n`;
  if (/^diff --git /m.test(text)) return text.slice(text.search(/^diff --git /m));
  const firstHunk = text.search(/^@@ /m);
  if (firstHunk < 0) throw new AntiphonError("ANT_PATCH_MALFORMED", `the diff of ${path} has no hunk`);
  const head = text.slice(0, firstHunk);
  const from = /^--- ([^\t\n]+)/m.exec(head)?.[1]?.trim();
  const to = /^\+\+\+ ([^\t\n]+)/m.exec(head)?.[1]?.trim();
  const added = from === NOTHING;
  const deleted = to === NOTHING;
  return [
    `diff --git a/${path} b/${path}`,
    ...(added ? ["new file mode 100644"] : []),
    ...(deleted ? ["deleted file mode 100644"] : []),
    `--- ${added ? NOTHING : `a/${path}`}`,
    `+++ ${deleted ? NOTHING : `b/${path}`}`,
    text.slice(firstHunk),
  ].join("\n");
}

/** Paths a patch touches without having declared them under `files[].path`. */
export function undeclaredPaths(patch: Patch, touched: readonly string[]): string[] {
  const declared = new Set(patch.files.map((file) => file.path));
  return touched.filter((path) => !declared.has(path));
}
