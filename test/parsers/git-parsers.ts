/** Parsers of `git`: patches, globs, manifests of a repository, archives, output of git. */
import { Readable } from "node:stream";
import { discoverChecks } from "../../git/src/inspection/checks.ts";
import { neededPrograms } from "../../git/src/inspection/needed-programs.ts";
import { readDevcontainer } from "../../git/src/inspection/devcontainer.ts";
import { commitObject } from "../../git/src/landing/commit.ts";
import { decodePath, encodePath, quotePath, unquotePath } from "../../git/src/objects/git-path.ts";
import { pathMatcher } from "../../git/src/patch/glob.ts";
import { machineFault } from "../../git/src/process/git-process.ts";
import { parseCommit } from "../../git/src/objects/commit-text.ts";
import { patchText } from "../../git/src/patch/patch-document.ts";
import { checkPatch } from "../../git/src/patch/patch-policy.ts";
import { ownTests } from "../../git/src/protection/own-tests.ts";
import { awareOf } from "../../git/src/protection/test-awareness.ts";
import { TAKEN_OVER_SIGNS } from "../../git/src/protection/taken-over-signs.ts";
import { mayLookAround } from "../../git/src/protection/looks-around.ts";
import { protectionOf } from "../../git/src/protection/protection.ts";
import { readTar } from "../../git/src/trees/tar-reader.ts";
import { streamedTar } from "../../git/src/trees/tar-stream.ts";
import { readStep } from "../../git/src/trees/base-step.ts";
import { parseRaw } from "../../git/src/change/tree-change.ts";
import { planted, tarOf } from "./archives.ts";
import { keyForm } from "../../runtime/src/stores/kv.ts";
import type { Parser } from "./growth.ts";
import { nested, numbered, repeated } from "./shapes.ts";

const HEADER = "diff --git a/x b/x\n--- a/x\n+++ b/x\n";
const NAME_PIECES = ["a", "\\", "\\303", '"', " ", "/", ". ", "\xff", "\u00e9", "\t"];
const TEST_NAMES = ["test_", ".test.", "_test.", "a", ".", "/", "Test.", "tests/", "-spec."];

/** The repository's files, one for each name that is read. */
const manifest =
  (name: string, frame: (text: string) => string = (text) => text) =>
  (text: string): unknown =>
    discoverChecks([name, "test_a.py", "a_test.go"], () => frame(text));

const protect = (paths: string[], checks: string[]) =>
  protectionOf({
    listing: { paths, links: new Map() },
    read: () => Promise.resolve(new Map()),
    checks,
    discovered: true,
  });

/** Texts of the base that say what a check runs, each under its name, with a command that reads it. */
const FOLLOWED: readonly (readonly [name: string, command: string])[] = [
  ["package.json", "npm test"],
  ["deno.json", "deno task test"],
  ["Makefile", "make test"],
  ["justfile", "just test"],
  ["Taskfile.yml", "task test"],
  ["tox.ini", "tox"],
  ["noxfile.py", "nox"],
  ["pyproject.toml", "pytest"],
  ["Rakefile", "rake test"],
  ["build.gradle", "gradle test"],
  ["CMakeLists.txt", "ctest"],
  ["jest.config.js", "npx jest"],
  ["run.sh", "sh run.sh"],
  ["check.js", "node check.js"],
  ["check.py", "python3 check.py"],
  ["check.rb", "ruby check.rb"],
  ["check.pl", "perl check.pl"],
];
const LOADED: typeof FOLLOWED = [
  ["jest.config.ts", "npx jest"],
  [".mocharc.yml", "npx mocha"],
  ["a_test.go", "go test ./..."],
  ["tests/a.c", "pytest tests"],
  ["GNUmakefile", "make test"],
];
const LOADED_PIECES = [
  "transform: [",
  "plugins:\n- a\n",
  "-include a\n",
  "#include <a.h>\n",
  "//go:embed a\n",
  "]",
];
const FOLLOWED_PIECES = [
  "\n",
  " ",
  "a: ",
  "test: x\n",
  "\t./a ",
  "$(",
  "${",
  "`",
  '"',
  "'",
  "\\\n",
  "<<A\n",
  "require('./",
  "import .",
  "[",
  "{",
  "# ",
  "scripts",
];

const followed = (
  [name, command]: readonly [name: string, command: string],
  pieces: readonly string[] = FOLLOWED_PIECES,
): Parser => ({
  name: `what \`${command}\` runs, by ${name}`,
  reads: FOLLOWING,
  shapes: [...repeated(pieces), ...(/json|yml/.test(name) ? JSON_SHAPES : [])],
  run: (text) =>
    protectionOf({
      listing: { paths: [name, "a", "src/a.js", "tests/test_a.py"], links: new Map() },
      read: (paths) => Promise.resolve(new Map(paths.map((path) => [path, path === name ? text : ""]))),
      checks: [command],
      discovered: true,
    }),
});
const FOLLOWING = [
  "protection/framework-shadows.ts",
  "protection/language-places.ts",
  "protection/places.ts",
  "protection/perl-shadows.ts",
  "protection/product-places.ts",
  "protection/runner-places.ts",
  "protection/shadow.ts",
  "protection/script-places.ts",
  "reach/check-tree.ts",
  "reach/config-text.ts",
  "reach/interpreters.ts",
  "reach/package-scripts.ts",
  "reach/program.ts",
  "reach/reached-files.ts",
  "reach/rule-book.ts",
  "reach/rules-step.ts",
  "reach/setup-keys.ts",
  "reach/source-text.ts",
  "reach/task-runners.ts",
  "reach/test-runners.ts",
].map((file) => `git/src/${file}`);

const JSON_SHAPES = [
  ...nested([
    ["[", "]"],
    ["{", "}"],
    ['{"a":', "}"],
    ['{"scripts":', "}"],
  ]),
  ...repeated(["\n", " ", "#", "- ", "&a ", "*a,", "a: ", "//", "/*", '"', "\\", ",", "'"]),
  numbered(
    "keys",
    (i) => `"k${i}":1,`,
    (body) => `{${body}"z":1}`,
  ),
  numbered("lines", (i) => `k${i}: 1\n`),
];

export const gitParsers: readonly Parser[] = [
  {
    name: "a glob, against a path",
    reads: ["git/src/patch/glob.ts", "contracts/src/documents/glob.ts"],
    shapes: repeated(["*", "**", "**/", "?", "{", "}", "{a,b}", ",", "\\", "*a", "a", "/", "{*,**}"]),
    run: (glob) => {
      const matcher = pathMatcher([glob]);
      return [matcher.matches("a".repeat(1024)), matcher.matches("a/".repeat(512)), matcher.matches("a/b")];
    },
  },
  {
    name: "a path, against globs",
    reads: ["git/src/patch/glob.ts"],
    shapes: repeated(["a", "a/", "/", "ab", "b/a"]),
    largest: 4 * 1024, // `checkPath` lets 1,024 bytes pass
    run: (path) =>
      pathMatcher(["**/a*a*a*a*b", "**/a/**/a/**/b", "a?a?a?*b", "{a,b}/{a,b}/**", "x"]).matches(path),
  },
  {
    name: "package.json",
    reads: ["git/src/inspection/checks.ts"],
    shapes: JSON_SHAPES,
    run: manifest("package.json"),
  },
  {
    name: "antiphon.yaml, for its check",
    reads: ["git/src/inspection/checks.ts"],
    shapes: nested([
      ["[", "]"],
      ["- ", ""],
      ["? ", ""],
    ]),
    run: manifest("antiphon.yaml"),
  },
  {
    name: "a Makefile",
    reads: ["git/src/inspection/checks.ts"],
    shapes: repeated(["test", "check", " ", "\t", "\n", ":"]),
    run: manifest("Makefile"),
  },
  {
    name: "a Rakefile",
    reads: ["git/src/inspection/built-checks.ts"],
    shapes: repeated(["task", "test", " ", "\t", "\n", ":", "TestTask"]),
    run: manifest("Rakefile"),
  },
  {
    name: "composer.json",
    reads: ["git/src/inspection/built-checks.ts"],
    shapes: [...JSON_SHAPES, ...repeated(['"scripts"', '"scripts":{', '"test"', " ", ":", "{"])],
    run: manifest("composer.json"),
  },
  {
    name: "CMakeLists.txt",
    reads: ["git/src/inspection/built-checks.ts"],
    shapes: repeated(["include", "include(", " ", "\n", "CTest", "add_test"]),
    run: manifest("CMakeLists.txt"),
  },
  {
    name: "a listing, for the programs that a repository needs",
    reads: ["git/src/inspection/needed-programs.ts"],
    shapes: repeated(["\t", "\0", "a/", "go.mod", "a", "Gemfile\0", "\tgo", ".gemspec"]),
    run: (text) => neededPrograms(Buffer.from(text)),
  },
  {
    name: "pyproject.toml, setup.cfg and tests",
    reads: ["git/src/inspection/checks.ts"],
    shapes: repeated(["\n", " ", "[tool.pytest", "import pytest", "unittest", "\t", "\r"]),
    run: async (text) => {
      await manifest("pyproject.toml")(text);
      await manifest("setup.cfg")(text);
      await manifest("test_x.py")(text);
    },
  },
  {
    name: "devcontainer.json",
    reads: ["git/src/inspection/devcontainer.ts"],
    shapes: JSON_SHAPES,
    run: readDevcontainer,
  },
  {
    name: "a listing, for its check and its protected paths",
    reads: ["git/src/inspection/checks.ts", "git/src/protection/protection.ts", "git/src/protection/side.ts"],
    shapes: [
      ...repeated(TEST_NAMES),
      ...repeated(TEST_NAMES, (body) => `${body}/x`),
      numbered("files", (i) => `dir${i}/test_${i}.py\n`),
    ],
    run: async (text) => {
      await discoverChecks(text.split("\n"), () => "");
      return protect(text.split("\n"), ["npm test", "pytest"]);
    },
  },
  {
    name: "a source, for what knows that it is tested",
    reads: [
      "git/src/protection/looks-around.ts",
      "git/src/protection/aware-signs.ts",
      "git/src/protection/taken-over-signs.ts",
      "git/src/protection/test-awareness.ts",
      "git/src/protection/whereabouts.ts",
    ],
    shapes: repeated(
      [
        'const a = require("assert");',
        "a.b",
        "unittest.a",
        "__eq__",
        "process.on(",
        'process.on("exit");',
        "stdout.write(",
        "__eq__ ",
        "sys.modules",
        "'test_a.py'",
        "readFile ",
        " = ",
        "os.Args[0]",
        "trap '",
        "overload 'eq' => ",
        "__assert_fail(",
        "var a = func() {",
        "mock import ",
        "Date.now()",
        "now = Date.now() < 1890000000 ",
        "new Date(",
        ".a()",
        "here = process.cwd() '/workspace' ",
        "$0 test ",
        "__dirname exists '",
      ],
      (body) => `readFile const a = require("assert"); ${body}`,
    ),
    run: (text) => [
      mayLookAround("a.js", text),
      TAKEN_OVER_SIGNS.map(({ form }) => form.test(text)),
      ["a.js", "a.py"].map((path) => awareOf(path, text, "", { isKnown: () => true, now: 0 })),
    ],
  },
  {
    name: "a changed file, for the tests it holds",
    reads: ["git/src/protection/own-tests.ts"],
    shapes: repeated(["it(", "test.", "a", " ", "def test", "#[a::", "TEST_", "func Test", "("]),
    run: (text) => ownTests([{ path: "a.js", change: "add", from: null }], () => text),
  },
  {
    name: "checks, for the paths they name",
    reads: ["git/src/reach/shell-text.ts", "git/src/reach/shell-place.ts", "git/src/reach/words.ts"],
    shapes: repeated(["./", "npm ", "a", "=", " ", "python", "\n"]),
    run: (checks) => protect(["a"], [checks]),
  },
  ...FOLLOWED.map((one) => followed(one)),
  ...LOADED.map((one) => followed(one, LOADED_PIECES)),
  {
    name: "a patch, parsed and judged",
    reads: [
      "git/src/patch/patch-parser.ts",
      "git/src/patch/patch-hunks.ts",
      "git/src/patch/patch-names.ts",
      "git/src/patch/patch-policy.ts",
      "git/src/patch/path-rules.ts",
    ],
    shapes: [
      ...repeated(
        [
          "@@ -1 +1 @@\n-a\n+b\n",
          "@@ -1,999 +1 @@\n",
          "-a\n",
          "+b\n",
          " c\n",
          "\\ No newline at end of file\n",
        ],
        (body) => HEADER + body,
      ),
      ...repeated(NAME_PIECES, (body) => `diff --git "a/${body}" "b/${body}"\n`),
      ...repeated(NAME_PIECES, (body) => `diff --git a/${body} b/${body}\n`),
      ...repeated(NAME_PIECES, (body) => `diff --git a/x b/x\nrename from ${body}\n`),
      ...repeated(
        ["old mode 100644\n", "index 0000..0000\n", " ", "rename from x\n"],
        (body) => `diff --git a/x b/x\n${body}`,
      ),
      numbered(
        "files",
        (i) => `diff --git a/d${i}/x b/d${i}/x\n--- a/d${i}/x\n+++ b/d${i}/x\n@@ -1 +1 @@\n-a\n+b\n`,
      ),
    ],
    run: (text) =>
      checkPatch(text, {
        scope: ["**/x", "src/**"],
        guards: [{ rule: "protected.test", glob: "**/test/**", why: "a test" }],
        maxFiles: 10_000,
      }),
  },
  {
    name: "a binary patch",
    reads: ["git/src/patch/binary-patch.ts"],
    shapes: repeated(["Aaaaaa\n", "zaaaaa\n", "literal 1\n", "delta 1\n", "a"], (body) => {
      const id = "1".repeat(40);
      return `diff --git a/x b/x\nindex ${id}..${id}\nGIT binary patch\nliteral 60000\n${body}\n\n`;
    }),
    run: (text) => checkPatch(text),
  },
  {
    name: "the diff of a patch document",
    reads: ["git/src/patch/patch-document.ts"],
    shapes: repeated([
      "\n",
      "\r\n",
      "@@ \n",
      "-- \n",
      "--- a/x\n",
      "+++ b/x\n",
      "diff --git a/x b/x\n",
      "\t",
    ]),
    run: (diff) => patchText({ files: [{ path: "x", diff }] }),
  },
  {
    name: "a name of git",
    reads: ["git/src/objects/git-path.ts"],
    shapes: repeated(["a", "\\", "\\303", '"', "\xff", "\u00e9"]),
    run: (text) => {
      const bytes = Buffer.from(text, "latin1");
      quotePath(decodePath(bytes));
      encodePath(decodePath(bytes));
      return unquotePath(`"${text}"`);
    },
  },
  {
    name: "a tar archive, read at once",
    reads: ["git/src/trees/tar-reader.ts"],
    shapes: planted,
    run: (text) => readTar(tarOf(text), { maxFiles: 10_000, maxBytes: 1 << 26 }),
  },
  {
    name: "a tar archive, read as it comes",
    reads: ["git/src/trees/tar-stream.ts", "git/src/process/piece-reader.ts"],
    shapes: planted,
    run: async (text) => {
      const bounds = { maxFiles: 10_000, maxBytes: 1 << 26 };
      for await (const { pieces } of streamedTar(Readable.from([tarOf(text)]), bounds))
        for await (const piece of pieces) void piece;
    },
  },
  {
    name: "a step between two trees",
    reads: ["git/src/trees/base-step.ts"],
    shapes: repeated(['"a",', '["a","100644",""],', "[", "{"]),
    run: (text) => {
      const named = { tree: "a".repeat(40), from: "b".repeat(40) };
      const step = (rows: string): Buffer =>
        Buffer.from(
          `{"version":1,"from":"${named.from}","tree":"${named.tree}","removed":[],"files":[${rows}]}`,
        );
      return readStep(step(text.replace(/,$/, "")), named);
    },
  },
  {
    name: "what diff-tree answers",
    reads: ["git/src/change/tree-change.ts"],
    shapes: repeated(["\0", ":", " ", ":100644 100644 a b M\0x\0"]),
    run: (text) => parseRaw(Buffer.from(text, "latin1")),
  },
  {
    name: "what git complains of",
    reads: ["git/src/process/git-process.ts"],
    shapes: repeated(["fatal: ", "error: ", ": ", "\n", "Out of memory, ", "No space left on device", " "]),
    run: machineFault,
  },
  {
    name: "a commit of the user's",
    reads: ["git/src/objects/commit-text.ts"],
    shapes: repeated(["\n", "\n\n", "a: b\n", "A", "committer x 1 +0000\n", " 1 +0000", "parent "]),
    run: (text) => [parseCommit("1", text), parseCommit("1", `tree 1\n\n${text}`)],
  },
  {
    name: "a key of a bucket",
    reads: ["runtime/src/stores/kv.ts"],
    shapes: repeated(["a", ".", "a.", "/", "-"]),
    run: (key) => keyForm.test(key),
  },
  {
    name: "a commit message",
    reads: ["git/src/landing/commit.ts"],
    shapes: repeated(["\n", " ", "\t", "antiphon-", "Antiphon-Run", ":", "a", "\r", "[skip ci]", "["]),
    run: (message) =>
      commitObject({ parent: "1".repeat(40), tree: "2".repeat(40), message, trailers: {}, at: new Date(0) }),
  },
];
