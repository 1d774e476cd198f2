// Tells a unified diff from a text that only looks like one, before a run is accepted for it. Pure.
//
// Whether a patch is allowed (paths, modes, scope) and whether it applies are the Director's questions; here only:
// are there hunks, and do they hold as many lines as their headers say?

export type PatchSyntax = { ok: true } | { ok: false; line: number; message: string };

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;
/** A file section without a hunk still changes something when it says so in its header. */
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
  return changes > 0 ? { ok: true } : bad(0, "no hunk (@@ -a,b +c,d @@) in it");
}

function hunkEnd(lines: string[], from: number, before: number, after: number): number | PatchSyntax {
  let i = from;
  while (before > 0 || after > 0) {
    const line = lines[i];
    const mark = line?.[0];
    if (line === undefined || (line === "" && i === lines.length - 1))
      return bad(i - 1, "the hunk ends before its line counts do");
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
