/**
 * Diffs that must be refused, each with the code that refuses it: a list, and products of lists that try every hostile
 * name in every place where a diff can name a file. Their base has the files of `HOSTILE_BASE`.
 */
import type { Guard } from "@antiphon/git";
import { hostileBinaries } from "./hostile-binaries.ts";

export interface HostileDiff {
  name: string;
  diff: string | Buffer;
  /** The code that refuses it, or one of several. */
  codes: readonly string[];
}

export const HOSTILE_BASE = {
  "app.js": "one\ntwo\nthree\n",
  "lib/util.js": "export {};\n",
  "test/app.test.js": "test\n",
  ".github/workflows/ci.yml": "on: push\n",
  "package.json": "{}\n",
};

/** The protected paths of that base in these tests. */
export const HOSTILE_GUARDS = ["test/app.test.js", ".github/**", "**/package.json", "**/conftest.py"].map(
  (glob): Guard => ({ rule: "protected.place", glob, why: "it judges" }),
);

const ID = "1".repeat(40);
const ZERO = "0".repeat(40);
const EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";

function quoted(prefix: string, path: string): string {
  let text = "";
  let needed = false;
  for (const byte of Buffer.from(prefix + path, "utf8")) {
    const char = String.fromCharCode(byte);
    if (byte < 0x20 || byte >= 0x7f || char === '"' || char === "\\") {
      text += `\\${byte.toString(8).padStart(3, "0")}`;
      needed = true;
    } else text += char;
  }
  return needed ? `"${text}"` : text;
}

const side = (prefix: string, path: string): string =>
  quoted(prefix, path) + (path.includes(" ") && !quoted(prefix, path).startsWith('"') ? "\t" : "");
const opening = (from: string, to = from): string => `diff --git ${quoted("a/", from)} ${quoted("b/", to)}\n`;

export const PLACES: Record<string, (path: string, mode?: string) => string> = {
  add: (path, mode = "100644") =>
    `${opening(path)}new file mode ${mode}\nindex ${ZERO}..${ID}\n--- /dev/null\n+++ ${side("b/", path)}\n@@ -0,0 +1 @@\n+x\n`,
  "add empty": (path, mode = "100644") => `${opening(path)}new file mode ${mode}\nindex ${ZERO}..${EMPTY}\n`,
  modify: (path, mode = "100644") =>
    `${opening(path)}index ${ID}..${ID} ${mode}\n--- ${side("a/", path)}\n+++ ${side("b/", path)}\n@@ -1 +1 @@\n-x\n+y\n`,
  delete: (path, mode = "100644") =>
    `${opening(path)}deleted file mode ${mode}\nindex ${ID}..${ZERO}\n--- ${side("a/", path)}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n`,
  chmod: (path, mode = "100755") =>
    `${opening(path)}old mode ${mode === "100644" ? "100755" : "100644"}\nnew mode ${mode}\n`,
  "rename to": (path) =>
    `${opening("app.js", path)}similarity index 100%\nrename from app.js\nrename to ${quoted("", path)}\n`,
  "rename from": (path) =>
    `${opening(path, "new.js")}similarity index 100%\nrename from ${quoted("", path)}\nrename to new.js\n`,
  "copy to": (path) =>
    `${opening("app.js", path)}similarity index 100%\ncopy from app.js\ncopy to ${quoted("", path)}\n`,
};

const PATH = ["ANT_PATCH_PATH"];
const NAME = ["ANT_PATCH_NAME"];
const GITLINK = ["ANT_PATCH_GITLINK"];

/** Names, and the code that refuses them in any place. */
const NAMES: readonly (readonly [string, readonly string[]])[] = [
  ...[
    "../x",
    "a/../../x",
    "a/..",
    "..",
    ".",
    "./x",
    "a/./x",
    "a//x",
    "/etc/passwd",
    "//server/share",
    "C:/x",
    "c:x",
  ].map((path) => [path, PATH] as const),
  ...[
    ".git/hooks/pre-commit",
    ".git/config",
    ".GIT/config",
    ".Git/x",
    "sub/.git/config",
    ".git",
    "a/.gIt/x",
  ].map((path) => [path, PATH] as const),
  ...[
    "git~1/config",
    "GIT~1/x",
    "Git~2/x",
    ".git::$INDEX_ALLOCATION/config",
    ".git:stream/x",
    ".git./x",
    ".git /x",
    ".git. . /x",
  ].map((path) => [path, PATH] as const),
  ...[
    "．git/config",
    ".ｇit/config",
    "x:y",
    "a/x::$DATA",
    "trailing.",
    "trailing ",
    "a./x",
    "a /x",
    " leading",
    "...",
    "CON",
    "nul.txt",
    "a/COM1",
    "lpt9.c",
    "aux",
  ].map((path) => [path, PATH] as const),
  ...[
    ".gitmodules",
    ".GITMODULES",
    "sub/.gitmodules",
    ".gitmodules.",
    ".gitmodules ",
    "gitmod~1",
    "GITMOD~3",
    "gi7eba~1",
    ".gitmodules:x",
  ].map((path) => [path, GITLINK] as const),
  ...[
    "a\\..\\x",
    "..\\x",
    "C:\\x",
    ".git\\config",
    "a\nb",
    "a\tb",
    "a\rb",
    "a\x1b[2Jb",
    "a\x7fb",
    "a\u0085b",
    "\x01",
    "a\x00b",
  ].map((path) => [path, NAME] as const),
  ...[
    "a\u202ejs.x",
    "\u2066a",
    "a\u200bb",
    ".g\u200cit/x",
    ".\u200dgit/config",
    "a\ufeffb",
    "a\u00adb",
    "a\u2028b",
    "a\u061cb",
    "a\u{e0041}b",
    "a\u3164b",
    "a\u2800b",
    "a\u180eb",
    "a\ufffdb",
  ].map((path) => [path, NAME] as const),
  ["x".repeat(300), PATH],
  [`${"d/".repeat(80)}x`, PATH],
  [`${"directory/".repeat(60)}${"long-name".repeat(60)}`, PATH],
];

function names(): HostileDiff[] {
  return NAMES.flatMap(([path, codes]) =>
    Object.entries(PLACES).map(([place, make]) => ({
      name: `${place} ${JSON.stringify(path).slice(0, 40)}`,
      diff: make(path),
      codes,
    })),
  );
}

function modes(): HostileDiff[] {
  const kinds: [string, string][] = [
    ["120000", "ANT_PATCH_SYMLINK"],
    ["160000", "ANT_PATCH_GITLINK"],
    ["040000", "ANT_PATCH_MODE"],
    ["000000", "ANT_PATCH_MODE"],
    ["100600", "ANT_PATCH_MODE"],
    ["100777", "ANT_PATCH_MODE"],
    ["104755", "ANT_PATCH_MODE"],
    ["100664", "ANT_PATCH_MODE"],
    ["060000", "ANT_PATCH_MODE"],
    ["140000", "ANT_PATCH_MODE"],
  ];
  return kinds.flatMap(([mode, code]) =>
    ["add", "add empty", "modify", "delete", "chmod"].map((place) => ({
      name: `${place} mode ${mode}`,
      diff: PLACES[place]?.("app.js", mode) ?? "",
      codes: [code],
    })),
  );
}

function protectedPlaces(): HostileDiff[] {
  const paths = [
    "test/app.test.js",
    ".github/workflows/ci.yml",
    ".github/workflows/new.yml",
    "package.json",
    "sub/package.json",
    "deep/conftest.py",
    "Package.JSON",
    ".GitHub/workflows/x.yml",
  ];
  return paths.flatMap((path) =>
    Object.entries(PLACES).map(([place, make]) => ({
      name: `${place} ${path}`,
      diff: make(path),
      codes: ["ANT_PATCH_PROTECTED"],
    })),
  );
}

const GOOD = PLACES["modify"]?.("app.js") ?? "";
const ADD = PLACES["add"]?.("new.js") ?? "";
const RENAME = PLACES["rename to"]?.("new.js") ?? "";

/** A good diff with one changed line, so that two lines contradict each other. */
function contradictions(): HostileDiff[] {
  const header = ["ANT_PATCH_HEADER", "ANT_PATCH_MALFORMED"];
  const edits: [string, string, string, string][] = [
    ["other name in ---", GOOD, "--- a/app.js", "--- a/lib/util.js"],
    ["other name in +++", GOOD, "+++ b/app.js", "+++ b/lib/util.js"],
    ["other names in both", GOOD, "--- a/app.js\n+++ b/app.js", "--- a/lib/util.js\n+++ b/lib/util.js"],
    [
      "other name on the first line",
      GOOD,
      "diff --git a/app.js b/app.js",
      "diff --git a/lib/util.js b/lib/util.js",
    ],
    ["two names without a rename", GOOD, "diff --git a/app.js b/app.js", "diff --git a/app.js b/lib/util.js"],
    ["/dev/null without new file", GOOD, "--- a/app.js", "--- /dev/null"],
    ["/dev/null without deleted file", GOOD, "+++ b/app.js", "+++ /dev/null"],
    ["/dev/null twice", GOOD, "--- a/app.js\n+++ b/app.js", "--- /dev/null\n+++ /dev/null"],
    ["new file with an old side", ADD, "--- /dev/null", "--- a/new.js"],
    ["new and deleted", ADD, "new file mode 100644\n", "new file mode 100644\ndeleted file mode 100644\n"],
    ["new mode twice", ADD, "new file mode 100644\n", "new file mode 100644\nnew file mode 120000\n"],
    ["index twice", GOOD, "index ", `index ${ID}..${ID} 120000\nindex `],
    ["old mode alone", GOOD, "index ", "old mode 100644\nindex "],
    ["new mode alone", GOOD, "index ", "new mode 120000\nindex "],
    ["mode in two places", GOOD, "index ", "old mode 100644\nnew mode 100755\nindex "],
    ["no-change mode", PLACES["chmod"]?.("app.js") ?? "", "old mode 100644", "old mode 100755"],
    ["rename to another name", RENAME, "rename to new.js", "rename to .git/x"],
    ["rename from another name", RENAME, "rename from app.js", "rename from lib/util.js"],
    ["rename with one side", RENAME, "rename from app.js\n", ""],
    ["rename and copy", RENAME, "rename from", "copy from"],
    ["rename without similarity", RENAME, "similarity index 100%\n", ""],
    ["rename twice", RENAME, "rename to new.js\n", "rename to new.js\nrename to new.js\n"],
    ["rename and new file", RENAME, "similarity", "new file mode 100644\nsimilarity"],
    ["no prefix", GOOD, "diff --git a/app.js b/app.js", "diff --git app.js app.js"],
    ["other prefix", GOOD, "+++ b/app.js", "+++ c/app.js"],
    ["absolute after the prefix is gone", GOOD, "--- a/app.js", "--- /app.js"],
    ["timestamp", GOOD, "--- a/app.js", "--- a/app.js\t2026-01-01"],
    ["name misquoted", GOOD, "+++ b/app.js", '+++ "b/app.js'],
    ["name with a bad escape", GOOD, "+++ b/app.js", '+++ "b/app\\q.js"'],
    ["name with a short octal", GOOD, "+++ b/app.js", '+++ "b/app\\1.js"'],
    ["text after a quoted name", GOOD, "+++ b/app.js", '+++ "b/app.js" x'],
    ["carriage return in a header", GOOD, "+++ b/app.js\n", "+++ b/app.js\r\n"],
    [
      "carriage return on the first line",
      GOOD,
      "diff --git a/app.js b/app.js\n",
      "diff --git a/app.js b/app.js\r\n",
    ],
  ];
  return edits.map(([name, text, from, to]) => ({ name, diff: text.replace(from, () => to), codes: header }));
}

function shapes(): HostileDiff[] {
  const bad = (name: string, diff: string, ...codes: string[]): HostileDiff => ({
    name,
    diff,
    codes: codes.map((code) => `ANT_PATCH_${code}`),
  });
  const hunk = (text: string): string => `${opening("app.js")}--- a/app.js\n+++ b/app.js\n${text}`;
  return [
    bad("prose before", `Here is the patch:\n${GOOD}`, "MALFORMED"),
    bad("prose between", `${GOOD}and then\n${ADD}`, "MALFORMED", "TRUNCATED"),
    bad("prose after", `${GOOD}done\n`, "MALFORMED"),
    bad("a blank line between", `${GOOD}\n${ADD}`, "MALFORMED"),
    bad("markdown fence", `\`\`\`diff\n${GOOD}\`\`\`\n`, "MALFORMED"),
    bad("mail signature", `${GOOD}-- \n2.39.5\n`, "MALFORMED", "TRUNCATED"),
    bad("no diff --git", "--- a/app.js\n+++ b/app.js\n@@ -1 +1 @@\n-one\n+1\n", "MALFORMED"),
    bad("combined diff", "diff --cc app.js\nindex 1,2..3\n--- a/app.js\n+++ b/app.js\n", "MALFORMED"),
    bad(
      "context diff",
      "*** app.js\n--- app.js\n***************\n*** 1 ****\n! one\n--- 1 ----\n! 1\n",
      "MALFORMED",
    ),
    bad("ed script", "1c\n1\n.\n", "MALFORMED"),
    bad("svn header", `Index: app.js\n${GOOD}`, "MALFORMED"),
    bad("only a header", opening("app.js"), "TRUNCATED"),
    bad("only an index line", `${opening("app.js")}index ${ID}..${ID} 100644\n`, "TRUNCATED"),
    bad("no hunks", `${opening("app.js")}--- a/app.js\n+++ b/app.js\n`, "TRUNCATED"),
    bad("--- without +++", `${opening("app.js")}--- a/app.js\n@@ -1 +1 @@\n-x\n+y\n`, "HEADER"),
    bad("no line feed at the end", GOOD.slice(0, -1), "TRUNCATED"),
    bad("fewer lines than said", hunk("@@ -1,3 +1,3 @@\n-one\n+1\n two\n"), "TRUNCATED"),
    bad("more lines than said", hunk("@@ -1 +1 @@\n-one\n+1\n two\n"), "TRUNCATED"),
    bad("more additions than said", hunk("@@ -1 +1 @@\n-one\n+1\n+2\n"), "TRUNCATED"),
    bad("more removals than said", hunk("@@ -1 +1 @@\n+1\n-one\n-two\n"), "TRUNCATED"),
    bad("huge counts", hunk("@@ -1,999999999 +1,999999999 @@\n-one\n+1\n"), "TRUNCATED"),
    bad("counts beyond any number", hunk("@@ -1,99999999999999999999 +1 @@\n-one\n+1\n"), "MALFORMED"),
    bad("negative counts", hunk("@@ -1,-1 +1 @@\n-one\n+1\n"), "MALFORMED"),
    bad("hexadecimal counts", hunk("@@ -0x1 +1 @@\n-one\n+1\n"), "MALFORMED"),
    bad("no counts", hunk("@@ @@\n-one\n+1\n"), "MALFORMED"),
    bad("elided hunk", hunk("@@ ... @@\n-one\n+1\n"), "MALFORMED"),
    bad("line zero", hunk("@@ -0,1 +0,1 @@\n-one\n+1\n"), "MALFORMED"),
    bad("hunks out of order", hunk("@@ -3 +3 @@\n-three\n+3\n@@ -1 +1 @@\n-one\n+1\n"), "MALFORMED"),
    bad("hunks overlap", hunk("@@ -1,2 +1,2 @@\n-one\n+1\n two\n@@ -2 +2 @@\n-two\n+2\n"), "MALFORMED"),
    bad("a hunk that changes nothing", hunk("@@ -1 +1 @@\n one\n"), "MALFORMED"),
    bad("an empty context line", hunk("@@ -1,2 +1,2 @@\n-one\n+1\n\n"), "TRUNCATED"),
    bad("a line with another sign", hunk("@@ -1,2 +1,2 @@\n-one\n+1\n!two\n"), "TRUNCATED"),
    bad("a carriage return as a sign", hunk("@@ -1,2 +1,2 @@\n-one\n+1\n\rtwo\n"), "TRUNCATED"),
    bad(
      "no-newline mark in the middle",
      hunk("@@ -1,2 +1,2 @@\n-one\n\\ No newline at end of file\n+1\n two\n"),
      "MALFORMED",
    ),
    bad("no-newline mark of another text", hunk("@@ -1 +1 @@\n-one\n+1\n\\ something else\n"), "MALFORMED"),
    bad("no-newline mark first", hunk("@@ -1 +1 @@\n\\ No newline at end of file\n-one\n+1\n"), "MALFORMED"),
    bad(
      "no-newline mark twice",
      hunk("@@ -1 +1 @@\n-one\n+1\n\\ No newline at end of file\n\\ No newline at end of file\n"),
      "TRUNCATED",
      "MALFORMED",
    ),
    bad(
      "a new file with old lines",
      `${opening("n")}new file mode 100644\n--- /dev/null\n+++ b/n\n@@ -1 +1 @@\n-a\n+b\n`,
      "HEADER",
    ),
    bad(
      "a new file in two hunks",
      `${opening("n")}new file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n@@ -0,0 +2 @@\n+b\n`,
      "MALFORMED",
    ),
    bad(
      "a deletion with new lines",
      `${opening("app.js")}deleted file mode 100644\n--- a/app.js\n+++ /dev/null\n@@ -1,3 +1 @@\n-one\n-two\n-three\n+x\n`,
      "HEADER",
    ),
    bad("a rename with changes it does not bring", RENAME.replace("100%", "80%"), "TRUNCATED"),
    bad("an unknown header line", GOOD.replace("index", "deleted mode"), "MALFORMED", "TRUNCATED"),
    bad("a mode of five digits", ADD.replace("100644", "10644"), "MALFORMED", "TRUNCATED"),
    bad("one path twice", GOOD + GOOD, "DUPLICATE"),
    bad("one path twice, apart", GOOD + ADD + GOOD, "DUPLICATE"),
    bad("added and changed", ADD + (PLACES["modify"]?.("new.js") ?? ""), "DUPLICATE"),
    bad(
      "deleted and added",
      (PLACES["delete"]?.("app.js") ?? "") + (PLACES["add"]?.("app.js") ?? ""),
      "DUPLICATE",
    ),
    bad("renamed away and changed", RENAME + GOOD, "DUPLICATE"),
    bad("renamed from twice", RENAME + (PLACES["rename to"]?.("other.js") ?? ""), "DUPLICATE"),
    bad(
      "renamed onto twice",
      RENAME +
        (opening("lib/util.js", "new.js") +
          "similarity index 100%\nrename from lib/util.js\nrename to new.js\n"),
      "DUPLICATE",
    ),
    bad(
      "renamed to itself",
      opening("app.js") + "similarity index 100%\nrename from app.js\nrename to app.js\n",
      "HEADER",
    ),
    bad("copied and changed", (PLACES["copy to"]?.("c.js") ?? "") + GOOD, "DUPLICATE"),
    bad(
      "two spellings of one name",
      (PLACES["add"]?.("Readme") ?? "") + (PLACES["add"]?.("README") ?? ""),
      "DUPLICATE",
    ),
    bad("a file and a directory", (PLACES["add"]?.("x") ?? "") + (PLACES["add"]?.("x/y") ?? ""), "DUPLICATE"),
    bad(
      "a directory and a file",
      (PLACES["add"]?.("x/y/z") ?? "") + (PLACES["add"]?.("x") ?? ""),
      "DUPLICATE",
    ),
    bad(
      "a link and a file through it",
      (PLACES["add"]?.("x", "120000") ?? "") + (PLACES["add"]?.("x/y") ?? ""),
      "SYMLINK",
    ),
    bad(
      "a thousand copies",
      Array.from({ length: 100 }, (_, index) => PLACES["copy to"]?.(`c${index}.js`) ?? "").join(""),
      "TOO_LARGE",
    ),
    bad(
      "a thousand files",
      Array.from({ length: 1000 }, (_, index) => PLACES["add empty"]?.(`f${index}`) ?? "").join(""),
      "TOO_LARGE",
    ),
    bad(
      "ten megabytes",
      `${opening("n")}new file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+${"x".repeat(10_000_000)}\n`,
      "TOO_LARGE",
    ),
    bad(
      "a submodule change",
      `${opening("sub")}index ${ID}..${ID} 160000\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit ${ID}\n+Subproject commit ${ZERO}\n`,
      "GITLINK",
    ),
    bad(
      "a submodule url that runs a program",
      (PLACES["add"]?.(".gitmodules") ?? "").replace("+x", "+\turl = ext::sh -c id"),
      "GITLINK",
    ),
    bad(
      "outside the tree behind a quoted name",
      GOOD.replaceAll("a/app.js", '"a/\\056\\056/x"').replaceAll("b/app.js", '"b/\\056\\056/x"'),
      "PATH",
    ),
    bad(
      ".git behind octal escapes",
      GOOD.replaceAll("a/app.js", '"a/\\056git/x"').replaceAll("b/app.js", '"b/\\056git/x"'),
      "PATH",
    ),
    bad(
      "a name that is not UTF-8",
      GOOD.replaceAll("a/app.js", '"a/\\377"').replaceAll("b/app.js", '"b/\\377"'),
      "NAME",
    ),
    bad(
      "a NUL in a quoted name",
      GOOD.replaceAll("a/app.js", '"a/x\\000y"').replaceAll("b/app.js", '"b/x\\000y"'),
      "NAME",
    ),
    bad(
      "an overlong UTF-8 slash",
      GOOD.replaceAll("a/app.js", '"a/\\300\\257etc"').replaceAll("b/app.js", '"b/\\300\\257etc"'),
      "NAME",
    ),
  ];
}

function scopes(): HostileDiff[] {
  return ["lib/util.js", "other.js", "srcx/a.js", "xsrc/a.js"].flatMap((path) =>
    Object.entries(PLACES).map(([place, make]) => ({
      name: `scope: ${place} ${path}`,
      diff: make(path),
      codes: ["ANT_PATCH_SCOPE"],
    })),
  );
}

/** Refused under any scope. */
export function hostileDiffs(): HostileDiff[] {
  return [
    ...names(),
    ...modes(),
    ...protectedPlaces(),
    ...contradictions(),
    ...shapes(),
    ...hostileBinaries(),
  ];
}

/** Refused under the scope `src/**` and `app.js`. */
export function diffsOutOfScope(): HostileDiff[] {
  return scopes();
}
