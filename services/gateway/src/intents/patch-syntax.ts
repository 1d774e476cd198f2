// Checks that a patch is a well-formed unified diff before its run is accepted. Pure.
//
// It checks only that there are hunks and that they have as many lines as their headers say. The Director decides
// whether a patch is allowed (paths, modes, scope) and whether it applies.

export type PatchSyntax = { ok: true } | { ok: false; line: number; message: string };

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
/** A file section without hunks changes something if its header contains one of these lines. */
const HEADER_ONLY =
  /^(GIT binary patch$|rename (from|to) |old mode |new mode |new file mode |deleted file mode |copy from )/;

export function checkPatchSyntax(diff: string): PatchSyntax {
  const lines = diff.split("\n");
  let changes = 0;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? "";
    const hunk = HUNK.exec(line);
    if (hunk === null) {
      if (line.startsWith("@@")) return bad(i, `malformed hunk header: ${line.slice(0, 80)}`);
      if (HEADER_ONLY.test(line)) changes++;
      continue;
    }
    changes++;
    const end = hunkEnd(lines, i + 1, Number(hunk[1] ?? 1), Number(hunk[2] ?? 1));
    if (typeof end !== "number") return end;
    i = end - 1;
  }
  return changes > 0 ? { ok: true } : bad(0, "it contains no hunk (@@ -a,b +c,d @@)");
}

function hunkEnd(lines: string[], from: number, before: number, after: number): number | PatchSyntax {
  let i = from;
  while (before > 0 || after > 0) {
    const line = lines[i];
    const mark = line?.[0];
    if (line === undefined || (line === "" && i === lines.length - 1))
      return bad(i - 1, "the hunk has fewer lines than its header says");
    if (mark === "\\") {
      i++;
      continue;
    }
    if (mark === "-") before--;
    else if (mark === "+") after--;
    else if (mark === " " || mark === undefined || line === "\r") {
      before--;
      after--;
    } else return bad(i, `a line of a hunk begins with " ", "+", "-" or "\\", not ${JSON.stringify(mark)}`);
    if (before < 0 || after < 0) return bad(i, "the hunk has more lines than its header says");
    i++;
  }
  return i;
}

function bad(index: number, message: string): PatchSyntax {
  return { ok: false, line: index + 1, message };
}
