import { describe, expect, it } from "vitest";
import { closingMatcher, literalGlob, pathMatcher } from "./glob.ts";

const matches = (glob: string, path: string): boolean => pathMatcher([glob]).matches(path);

describe("a glob", () => {
  it.each([
    ["src/**", "src/a/b.js", true],
    ["src/**", "src", false],
    ["src/**", "srcx/a", false],
    ["src/*", "src/a.js", true],
    ["src/*", "src/a/b.js", false],
    ["*.js", "a.js", true],
    ["*.js", "lib/a.js", false],
    ["**/*.js", "a.js", true],
    ["**/*.js", "lib/deep/a.js", true],
    ["**/test/**", "test/a", true],
    ["**/test/**", "x/test/a/b", true],
    ["**/test/**", "contest/a", false],
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/y/b", true],
    ["a/**/b", "a/xb", false],
    ["**/conftest.py", "conftest.py", true],
    ["**/conftest.py", "xconftest.py", false],
    ["a?c", "abc", true],
    ["a?c", "a/c", false],
    ["src", "src/a/b", true],
    ["src", "src", true],
    ["src", "srcs", false],
    ["src/", "src/a", true],
    ["./src/a.js", "src/a.js", true],
    ["/src/a.js", "src/a.js", true],
    ["*.{js,ts}", "a.ts", true],
    ["*.{js,ts}", "a.tsx", false],
    ["{a,b/{c,d}}/x", "b/d/x", true],
    ["{open", "{open", true],
    ["app/[id]/page.tsx", "app/[id]/page.tsx", true],
    ["app/[id]/page.tsx", "app/i/page.tsx", false],
    ["\\*.js", "*.js", true],
    ["\\*.js", "a.js", false],
    ["**", "any/thing", true],
    ["lib/*/", "lib/x/deep/file", true],
    ["", "a", false],
  ])("%j on %j: %s", (glob, path, expected) => {
    expect(matches(glob, path)).toBe(expected);
  });

  it("made from a path matches that path only", () => {
    for (const path of ["a*b", "a?b", "{a,b}", "back\\slash", "[id].js", "**"]) {
      expect(matches(literalGlob(path), path)).toBe(true);
      expect(matches(literalGlob(path), "axb")).toBe(false);
    }
  });

  it("is matched in states of more than one word as in one", () => {
    for (const length of [30, 31, 32, 33, 63, 64, 65, 200]) {
      const stem = "a".repeat(length);
      expect(matches(`${stem}*b`, `${stem}xxb`)).toBe(true);
      expect(matches(`${stem}*b`, `${stem.slice(1)}xxb`)).toBe(false);
      expect(matches(`**/${stem}?/**`, `x/y/${stem}c/z`)).toBe(true);
    }
  });

  it("made from a path protects that path, however long it is", () => {
    const path = "*".repeat(1000);
    expect(matches(literalGlob(path), path)).toBe(true);
  });

  it("takes linear time, however many stars it has", () => {
    const glob = `${"**/a*".repeat(40)}**/b`;
    expect(matches(glob, "a/".repeat(400) + "c")).toBe(false);
    // Beyond the bound on alternatives a pattern matches nothing, which closes a scope and opens no grant.
    expect(pathMatcher(["{a,b}".repeat(30)]).matches("a".repeat(30))).toBe(false);
    expect(pathMatcher(["{a,b}".repeat(6)]).matches("ababab")).toBe(true);
  });

  it("of a list that closes something counts, however long the list is", () => {
    const many = Array.from({ length: 2_000 }, (_, i) => `goal-${i}/**`);
    expect(pathMatcher([...many, "**/.npmrc"]).matches("app/.npmrc")).toBe(false);
    const closing = closingMatcher([...many, "**/.npmrc"]);
    expect(closing.matches("app/.npmrc")).toBe(true);
    expect(closing.matches("app/npmrc")).toBe(false);
    expect(closingMatcher(["{a,b}".repeat(30)]).matches("src/c.js")).toBe(true);
  });
});
