import { describe, expect, it } from "vitest";
import { filteredTest } from "./test-filter.ts";

const scripts = (script: string, more: object = {}): string =>
  JSON.stringify({ scripts: { test: script, ...more } });

describe("a filter of tests", () => {
  it.each([
    ["python3 -m pytest -q", "python3 -m pytest -q -k adds"],
    ["python3 -m unittest discover -q", "python3 -m unittest discover -q -k adds"],
    ["go test ./...", "go test -run adds ./..."],
    ["cargo test --offline", "cargo test --offline adds"],
    ["cargo test --offline -- --nocapture", "cargo test --offline adds -- --nocapture"],
  ])("is passed to %s in that runner's way", (check, expected) => {
    expect(filteredTest(check, "adds", null)).toBe(expected);
  });

  it.each([
    ["node --test", "node --test --test-name-pattern=adds"],
    ["node --test test/a.js", "node --test --test-name-pattern=adds test/a.js"],
    ["vitest run", "vitest run -t adds"],
    ["jest --ci", "jest --ci -t adds"],
    ["mocha", "mocha -g adds"],
    ["ava", "ava --match=adds"],
  ])("reaches the runner of the script %s", (script, expected) => {
    const path = 'PATH="$PWD/node_modules/.bin:$PATH" ';
    expect(filteredTest("npm test", "adds", scripts(script))).toBe(`${path}${expected}`);
  });

  it("is one word, whatever it contains", () => {
    expect(filteredTest("pytest", "a b; rm -rf '/'", null)).toBe(`pytest -k 'a b; rm -rf '\\''/'\\'''`);
  });

  it.each([
    ["make test", null],
    ["python3 -m pytest -q && rm x", null],
    ["pytest | tee log", null],
    ["npm test", null],
    ["npm test", "not json"],
    ["npm test", scripts("node test.js")],
    ["npm test", scripts("tsc && node --test")],
    ["npm test", scripts("node --test", { pretest: "tsc" })],
    ["pytester", null],
  ])("is refused for %s with %s, since nobody can tell what it would apply to", (check, packageJson) => {
    expect(filteredTest(check, "adds", packageJson)).toBeNull();
  });
});
