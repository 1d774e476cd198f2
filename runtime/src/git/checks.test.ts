import { describe, expect, it } from "vitest";
import { discoverCheck } from "./checks.ts";
import { pathMatcher } from "./glob.ts";
import { protectedPaths } from "./protected-paths.ts";

const check = (files: Record<string, string>): Promise<string | null> =>
  discoverCheck(Object.keys(files), (path) => files[path] ?? null);
const scripts = (test: string): string => JSON.stringify({ scripts: { test } });

describe("the fastest obvious check", () => {
  it.each([
    [
      "what antiphon.yaml says",
      { "antiphon.yaml": "check: ./ci.sh --fast\n", "package.json": scripts("jest") },
      "./ci.sh --fast",
    ],
    [
      "all that antiphon.yaml says",
      { "antiphon.yml": "checks:\n  - npm run lint\n  - npm test\n" },
      "npm run lint && npm test",
    ],
    ["npm test", { "package.json": scripts("node --test") }, "npm test"],
    ["yarn test", { "package.json": scripts("jest"), "yarn.lock": "" }, "yarn test"],
    ["pnpm test", { "package.json": scripts("jest"), "pnpm-lock.yaml": "" }, "pnpm test"],
    ["make test", { Makefile: "all: x\n\ntest: all\n\t./t\n" }, "make test"],
    ["make check", { GNUmakefile: "check::\n\t./t\n", Makefile: "test:\n" }, "make check"],
    ["pytest by its configuration", { "pytest.ini": "[pytest]\n" }, "python3 -m pytest -q"],
    ["pytest by pyproject", { "pyproject.toml": "[tool.pytest.ini_options]\n" }, "python3 -m pytest -q"],
    ["pytest by its tests", { "tests/test_a.py": "import pytest\n" }, "python3 -m pytest -q"],
    ["unittest", { "test_a.py": "import unittest\n" }, "python3 -m unittest discover -q"],
    ["cargo", { "Cargo.toml": "" }, "cargo test --offline"],
    ["go", { "go.mod": "", "a_test.go": "" }, "go test ./..."],
    ["prove", { "t/basic.t": "" }, "prove -lr t"],
    ["a script", { "scripts/test.sh": "" }, "sh ./scripts/test.sh"],
  ])("is %s", async (_name, files, expected) => {
    expect(await check(files)).toBe(expected);
  });

  it.each([
    ["the placeholder of npm init", { "package.json": scripts('echo "Error: no test specified" && exit 1') }],
    ["a package.json without a test", { "package.json": "{}" }],
    ["a package.json that does not parse", { "package.json": "{" }],
    ["a test script that is no text", { "package.json": '{"scripts":{"test":1}}' }],
    ["a variable called test in a Makefile", { Makefile: "test := 1\ntests: x\n" }],
    ["an antiphon.yaml without a check", { "antiphon.yaml": "image: x\n" }],
    ["an antiphon.yaml that does not parse", { "antiphon.yaml": "check: [\n" }],
    ["a go.mod without tests", { "go.mod": "" }],
    ["nothing", {}],
  ])("is not %s", async (_name, files) => {
    expect(await check(files)).toBeNull();
  });
});

describe("protected paths", () => {
  const listing = [
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
  const guards = (checks: string[], path: string): boolean =>
    pathMatcher(protectedPaths(listing, checks)).matches(path);

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
    ["packages/x/package.json", true],
    [".npmrc", true],
    ["node_modules/.bin/jest", true],
    ["jest.config.mjs", true],
    ["Makefile", false],
    ["conftest.py", false],
  ])("V3: with npm test, %s is protected: %s", (path, expected) => {
    expect(guards(["npm test"], path)).toBe(expected);
  });

  it.each([
    ["make test", "Makefile"],
    ["make test", "makefile"],
    ["make test", "GNUmakefile"],
    ["make test", "rules.mk"],
    ["sh ./scripts/ci.sh", "scripts/ci.sh"],
    ["bash -c 'scripts/ci.sh && true'", "scripts/ci.sh"],
    ["python3 -m pytest -q", "tests/conftest.py"],
    ["python3 -m pytest -q", "sitecustomize.py"],
    ["pytest", "pytest.ini"],
    ["pytest", "pytest/__init__.py"],
    ["tox", "tox.ini"],
    ["prove -lr t", ".proverc"],
    ["cargo test", ".cargo/config.toml"],
    ["go test ./...", "vendor/x/y.go"],
  ])("V3: %s protects %s", (command, path) => {
    expect(guards([command], path)).toBe(true);
    expect(guards([], path)).toBe(false);
  });
});
