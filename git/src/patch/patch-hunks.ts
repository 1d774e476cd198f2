/** The hunks of one file: in order, without overlap, and with exactly the line counts of their headers. */
import type { FilePatch } from "./file-patch.ts";
import type { PatchCursor } from "./patch-cursor.ts";

export function readHunks(cursor: PatchCursor, file: FilePatch): void {
  let oldEnd = 0;
  let newEnd = 0;
  let count = 0;
  for (; cursor.line.startsWith("@@ "); count += 1) {
    const head = /^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(?: .*)?$/s.exec(cursor.line);
    if (head === null) cursor.fail("MALFORMED", "hunk.header", "a hunk header that is none");
    const [oldStart, newStart] = [Number(head[1]), Number(head[3])];
    const [oldCount, newCount] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
    const inOrder =
      oldStart + (oldCount === 0 ? 1 : 0) > oldEnd && newStart + (newCount === 0 ? 1 : 0) > newEnd;
    if (!inOrder) cursor.fail("MALFORMED", "hunk.order", "hunks overlap or are out of order");
    if ((oldStart === 0 && oldCount !== 0) || (newStart === 0 && newCount !== 0)) {
      cursor.fail("MALFORMED", "hunk.header", "line 0 of a file that has lines");
    }
    oldEnd = oldCount === 0 ? oldStart : oldStart + oldCount - 1;
    newEnd = newCount === 0 ? newStart : newStart + newCount - 1;
    readHunk(cursor, file, oldCount, newCount);
  }
  if (count === 0) cursor.fail("TRUNCATED", "hunk.none", "`---` and `+++` without a hunk");
  if (count > 1 && (file.change === "add" || file.change === "delete")) {
    cursor.fail("MALFORMED", "hunk.order", "a new or deleted file in more than one hunk", file.line);
  }
  if (file.change === "add" && (file.removed > 0 || oldEnd !== 0)) {
    cursor.fail("HEADER", "header.kind", "a new file with old lines", file.line);
  }
  if (file.change === "delete" && (file.added > 0 || newEnd !== 0)) {
    cursor.fail("HEADER", "header.kind", "a deleted file with new lines", file.line);
  }
}

function readHunk(cursor: PatchCursor, file: FilePatch, oldCount: number, newCount: number): void {
  const start = cursor.at;
  let [oldLeft, newLeft, changes] = [oldCount, newCount, 0];
  let last = "";
  cursor.at += 1;
  while (oldLeft > 0 || newLeft > 0) {
    const line = cursor.lines[cursor.at];
    const sign = line?.[0] ?? "";
    if (sign === "\\") {
      endOfFile(cursor, last, oldLeft, newLeft);
      last = "\\";
      continue;
    }
    if (line === undefined || !(sign === " " || sign === "+" || sign === "-")) {
      cursor.fail("TRUNCATED", "hunk.short", "fewer lines than the hunk header says", start + 1);
    }
    if (sign !== "+") oldLeft -= 1;
    if (sign !== "-") newLeft -= 1;
    if (sign === "+") file.added += 1;
    if (sign === "-") file.removed += 1;
    if (sign !== " ") changes += 1;
    if (oldLeft < 0 || newLeft < 0) {
      cursor.fail("TRUNCATED", "hunk.counts", "other lines than the hunk header says", start + 1);
    }
    last = sign;
    cursor.at += 1;
  }
  if (cursor.line.startsWith("\\")) endOfFile(cursor, last, oldLeft, newLeft);
  if (/^[ +\\]/.test(cursor.line) || (cursor.line.startsWith("-") && !cursor.line.startsWith("--- "))) {
    cursor.fail("TRUNCATED", "hunk.long", "more lines than the hunk header says", cursor.at + 1);
  }
  if (changes === 0) cursor.fail("MALFORMED", "hunk.empty", "a hunk that changes nothing", start + 1);
}

/** `\ No newline at end of file` ends the side of the previous line: no line may follow on that side. */
function endOfFile(cursor: PatchCursor, last: string, oldLeft: number, newLeft: number): void {
  const ended =
    (last === "-" && oldLeft === 0) ||
    (last === "+" && newLeft === 0) ||
    (last === " " && oldLeft + newLeft === 0);
  if (cursor.line !== "\\ No newline at end of file" || !ended) {
    cursor.fail("MALFORMED", "hunk.no-newline", "a misplaced `\\` line");
  }
  cursor.at += 1;
}
