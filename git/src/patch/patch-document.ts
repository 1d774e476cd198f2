/**
 * Converts a Patch.v0 document, one unified diff per file as people and models write them, into the form the parser
 * reads: `diff --git`, mode lines, `a/` and `b/`. Hunks are not repaired.
 */
import { AntiphonError, type Patch } from "@antiphon/contracts";
import { quotePath } from "../objects/git-path.ts";
import { parsePatch } from "./patch-parser.ts";
import { PatchRefused } from "./patch-refusal.ts";

/** @throws AntiphonError ANT_PATCH_HEADER when a diff names another path than its entry */
export function patchText(patch: Patch): string {
  return patch.files.map((file) => fileDiff(file.path, file.diff)).join("");
}

function fileDiff(path: string, diff: string): string {
  const lines = withPlainHeaders(withoutMail(diff.split("\n")));
  const last = lines.findLastIndex((line) => line !== "");
  const text = lines.slice(0, last + 1).join("\n");
  // Stripping the mail also stripped trailing empty lines, but a binary part must end with one.
  const end = /^GIT binary patch$/m.test(text) ? "\n\n" : "\n";
  const whole = text === "" ? text : `${text}${end}`;
  if (whole.startsWith("diff --git ")) return sameFile(path, whole);
  if (!whole.startsWith("--- ")) {
    throw new AntiphonError("ANT_PATCH_MALFORMED", `the diff of ${path} is no unified diff`, {
      data: { path },
    });
  }
  return plainDiff(path, whole);
}

/** Editors on Windows end lines with a carriage return. It is content in a file's own lines and is dropped in headers. */
function withPlainHeaders(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line.startsWith("@@ "));
  return lines.map((line, index) =>
    index <= first || line.startsWith("@@ ") ? line.replace(/\r$/, "") : line,
  );
}

/** Returns an unreadable diff unchanged: `checkPatch` refuses it with its line. */
function sameFile(path: string, diff: string): string {
  try {
    const other = parsePatch(diff).find((file) => file.oldPath !== path && file.newPath !== path);
    if (other === undefined) return diff;
    const named = other.newPath ?? other.oldPath ?? "";
    throw new AntiphonError("ANT_PATCH_HEADER", `the diff under ${path} is about ${named}`, {
      data: { path },
    });
  } catch (thrown) {
    if (thrown instanceof PatchRefused) return diff;
    throw thrown;
  }
}

/** Removes the mail that `git format-patch` writes: the text before the diff and the signature after it. */
function withoutMail(lines: readonly string[]): string[] {
  const start = lines.findIndex((line, index) => {
    return (
      line.startsWith("diff --git ") ||
      (line.startsWith("--- ") && lines[index + 1]?.startsWith("+++ ") === true)
    );
  });
  const rest = start === -1 ? [...lines] : lines.slice(start);
  while (rest.at(-1) === "") rest.pop();
  if (/^\d+\.\d+/.test(rest.at(-1) ?? "") && rest.at(-2) === "-- ") rest.splice(-2);
  return rest;
}

/** Adds the header git would have written to a diff that has only `---` and `+++`. */
function plainDiff(path: string, text: string): string {
  const [oldLine = "", newLine = "", ...hunks] = text.split("\n");
  const [from, to] = [sideName(oldLine), sideName(newLine)];
  const names = [from, to].filter((name) => name !== null).map((name) => name.replace(/^[ab]\//, ""));
  if (names.length === 0 || names.some((name) => name !== path)) {
    throw new AntiphonError("ANT_PATCH_HEADER", `the diff under ${path} is about ${names.join(" and ")}`, {
      data: { path },
    });
  }
  const quoted = (prefix: string): string => quotePath(`${prefix}${path}`);
  const tab = path.includes(" ") ? "\t" : "";
  const mode = from === null ? ["new file mode 100644"] : to === null ? ["deleted file mode 100644"] : [];
  return [
    `diff --git ${quoted("a/")} ${quoted("b/")}`,
    ...mode,
    from === null ? "--- /dev/null" : `--- ${quoted("a/")}${tab}`,
    to === null ? "+++ /dev/null" : `+++ ${quoted("b/")}${tab}`,
    ...hunks,
  ].join("\n");
}

/** The name without a timestamp; null for /dev/null. */
function sideName(line: string): string | null {
  const name = line.slice(4).split("\t")[0]?.trimEnd() ?? "";
  return name === "/dev/null" ? null : name;
}
