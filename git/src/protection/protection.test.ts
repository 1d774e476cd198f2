import { describe, expect, it } from "vitest";
import { foldedPath } from "../patch/path-rules.ts";
import { pathMatcher } from "../patch/glob.ts";
import { PROTECTED_PLACES } from "./places.ts";
import { protectionOf } from "./protection.ts";
import { isTest } from "./side.ts";

const LISTING = [
  "package.json",
  "src/a.js",
  "test/a.test.js",
  "src/b.spec.ts",
  "lib/[id].test.js",
  "scripts/ci.sh",
  "Makefile",
  "docs/testing.md",
  "src/contest.js",
];

async function matcher(checks: readonly string[], paths: readonly string[] = LISTING) {
  const listing = { paths, links: new Map<string, string>() };
  const guards = await protectionOf({
    listing,
    read: (wanted) => Promise.resolve(new Map(wanted.map((path) => [path, ""]))),
    checks,
    discovered: false,
  });
  return pathMatcher(guards.map(({ glob }) => foldedPath(glob)));
}

describe("protected paths", () => {
  it.each([
    ["test/a.test.js", true],
    ["src/b.spec.ts", true],
    ["lib/[id].test.js", true],
    ["test/new.test.js", false],
    ["src/a.js", false],
    ["docs/testing.md", false],
    ["src/contest.js", false],
    [".github/workflows/new.yml", true],
    ["antiphon.yaml", true],
    [".gitattributes", true],
    ["package.json", true],
    ["Package.JSON", true],
    ["package.j\u017fon", true],
    ["te\u017ft/a.test.js", true],
    ["packages/x/package.json", true],
    [".npmrc", true],
    ["node_modules/.bin/jest", true],
    ["jest.config.mjs", true],
    ["Makefile", false],
    ["conftest.py", false],
  ])("with npm test, %s is protected: %s", async (path, expected) => {
    expect((await matcher(["npm test"])).matches(foldedPath(path))).toBe(expected);
  });

  it.each([
    ["make test", "makefile"],
    ["make test", "GNUmakefile"],
    ["make test", "rules.mk"],
    ["sh ./scripts/ci.sh", "scripts/ci.sh"],
    ["bash -c 'scripts/ci.sh && true'", "scripts/ci.sh"],
    ["python3 -m pytest -q", "tests/conftest.py"],
    ["python3 -m pytest -q", "sitecustomize.py"],
    ["python3 -m pytest -q", "sitecustomize/__init__.py"],
    ["pytest", "pytest.ini"],
    ["pytest", "pytest/__init__.py"],
    ["tox", "tox.ini"],
    ["prove -lr t", ".proverc"],
    ["cargo test", ".cargo/config.toml"],
    ["go test ./...", "vendor/x/y.go"],
  ])("%s protects %s", async (command, path) => {
    expect((await matcher([command])).matches(foldedPath(path))).toBe(true);
    expect((await matcher([])).matches(foldedPath(path))).toBe(false);
  });
});

/** Example paths for a glob of the table: each alternative of braces, a letter for a star, no name and two names for `**`. */
function examples(glob: string): string[] {
  const brace = /\{([^{}]*)\}/.exec(glob);
  if (brace !== null)
    return (brace[1] ?? "").split(",").flatMap((part) => examples(glob.replace(brace[0], part)));
  const ways = glob.startsWith("**/") ? [glob.slice(3), `deep/er/${glob.slice(3)}`] : [glob];
  return ways.map((way) => way.replace(/\*\*/g, "a/b").replace(/\*/g, "x"));
}

describe("the table of places", () => {
  it.each(
    PROTECTED_PLACES.flatMap(({ what, globs, when, existing }) =>
      Object.keys(globs).flatMap((glob) =>
        examples(glob).map((path) => [what, path, when, existing ?? false] as const),
      ),
    ),
  )("closes %s: %s", async (_what, path, when, existing) => {
    const closed = await matcher([programOf(when)], existing ? [path] : []);
    expect(closed.matches(foldedPath(path))).toBe(true);
    const without = await matcher(["true"], []);
    expect(without.matches(foldedPath(path))).toBe(when === "always" && !existing);
  });
});

describe("a pattern closes its example, and leaves the path beside it open", () => {
  it.each(
    PROTECTED_PLACES.flatMap(({ globs, when, existing }) =>
      Object.entries(globs).map(([glob, [closed, open]]) => [glob, closed, open, when, existing] as const),
    ),
  )("%s", async (glob, closed, open, when, existing) => {
    const own = pathMatcher([foldedPath(glob)]);
    expect([closed, open].map((path) => own.matches(foldedPath(path)))).toEqual([true, false]);
    const run = await matcher([programOf(when)], existing === true ? [closed, open] : []);
    expect([closed, open].map((path) => run.matches(foldedPath(path)))).toEqual([true, false]);
  });
});

function programOf(when: "always" | RegExp): string {
  if (when === "always") return "true";
  return PROGRAMS.find((name) => when.test(name)) ?? "no program of the row";
}

const PROGRAMS = [
  ..."npm pytest mvn make just task cargo go prove rspec phpunit cmake dotnet mix swift dart bazel nix eslint prettier ruff revive rubocop ktlint vale gulp vitest behave robot tox invoke mage gradle busted cabal Rscript zig dune rebar3 forge julia crystal pants".split(
    " ",
  ),
];

describe("tests by their name", () => {
  it.each([
    ...["test/a.js", "src/a.test.ts", "tests/x/y.txt", "a_test.go", "ATest.java", "test_a.py", "x.golden"],
    ...["spec/a_spec.rb", "src/a.spec.ts", "spec/support/x.json", "out.expected", "src/test/java/A.java"],
    ...["cases/golden/x.json", "__snapshots__/a.snap", "t/a.t", "deep/testdata/x", "a.approved.txt"],
    ...["types/index.test-d.ts", "types/index.spec-d.mts", "types/index.tst.ts"],
  ])("has %s", (path) => expect(isTest(path)).toBe(true));

  it.each([
    ...["docs/spec.md", "api/user.spec.yaml", "src/specs/catalogue.js", "spec/openapi.yaml", "docs/test.md"],
    ...["src/contest.js", "src/latest.js", "README.md", "lib/expectation.rb", "openapi.spec.json", "SPEC.md"],
    ...["types/index.d.ts", "src/latest-d.ts", "data/a.tst.json"],
  ])("has not %s", (path) => expect(isTest(path)).toBe(false));
});
