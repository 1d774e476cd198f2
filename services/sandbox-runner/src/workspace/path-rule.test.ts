import { describe, expect, it } from "vitest";
import { checkPath, isInsideGitDirectory, stepDirectory } from "./path-rule.ts";
import { Refusal } from "./refusal.ts";

const REFUSED: readonly (readonly [path: string, rule: string])[] = [
  ["", "path-empty"],
  ["/etc/passwd", "path-absolute"],
  ["//x", "path-absolute"],
  ["..", "path-parent"],
  ["a/../b", "path-parent"],
  ["a/..", "path-parent"],
  [".", "path-dot"],
  ["a//b", "path-dot"],
  ["a/./b", "path-dot"],
  ["a/", "path-dot"],
  ["a\u0000b", "path-control"],
  ["a\nb", "path-control"],
  ["a\u001b[31mb", "path-control"],
  ["a\u0085b", "path-control"],
  ["gpj.\u202eexe", "path-bidi"],
  ["a\u2066b", "path-bidi"],
  ["a\\b", "path-backslash"],
  ["..\\x", "path-backslash"],
  ["\ufffd", "path-text"],
  [".git/config", "path-git"],
  ["x/.git", "path-git"],
  [".GIT/config", "path-git"],
  [".git./config", "path-git"],
  [".git /config", "path-git"],
  ["git~1/config", "path-git"],
  ["GIT~1", "path-git"],
  [".g\u200bit/config", "path-git"],
  [".git::$INDEX_ALLOCATION/config", "path-git"],
  ["x".repeat(256), "path-length"],
  [`${"d/".repeat(600)}f`, "path-length"],
];

describe("paths into and out of a sandbox", () => {
  it.each(REFUSED)("%j is refused by %s", (path, rule) => {
    let refused: unknown = null;
    try {
      checkPath(path);
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(Refusal);
    expect((refused as Refusal).rule).toBe(rule);
  });

  it.each([
    "a",
    "a/b.ts",
    ".github/workflows/ci.yml",
    ".gitignore",
    "...",
    "a..b",
    "ä/日本語.txt",
    "with space",
    "a:b",
  ])("%j is allowed", (path) => {
    expect(checkPath(path)).toBe(path);
  });

  it("recognises paths inside a repository of the sandbox's own", () => {
    expect([".git", ".git/x", "a/.git/x", ".gitignore", "a/git"].map(isInsideGitDirectory)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  it("puts a step's directory inside the workspace", () => {
    expect([undefined, "", ".", "a/b"].map(stepDirectory)).toEqual([
      "/workspace",
      "/workspace",
      "/workspace",
      "/workspace/a/b",
    ]);
    expect(() => stepDirectory("../etc")).toThrow(Refusal);
  });
});
