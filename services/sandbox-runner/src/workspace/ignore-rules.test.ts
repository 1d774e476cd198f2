import { describe, expect, it } from "vitest";
import { IgnoreRules } from "./ignore-rules.ts";

const rules = (content: string, more: Record<string, string> = {}): IgnoreRules =>
  new IgnoreRules(
    [
      { directory: "", content },
      ...Object.entries(more).map(([directory, text]) => ({ directory, content: text })),
    ],
    ["node_modules/"],
  );

describe("the rules by which git ignores paths", () => {
  it.each([
    ["a name anywhere", "*.log", "a/b/c.log", true],
    ["an anchored name elsewhere", "/out", "a/out", false],
    ["a path with a slash elsewhere", "a/b", "x/a/b", false],
    ["what is below an ignored directory", "dist/", "dist/deep/er/file", true],
    ["a file by a directory's rule", "dist/", "dist", false],
    ["two stars in front", "**/tmp", "a/b/tmp", true],
    ["two stars between nothing", "a/**/b", "a/b", true],
    ["two stars at the end, the directory itself", "a/**", "a", false],
    ["a comment", "#x", "#x", false],
    ["an escaped comment", "\\#x", "#x", true],
    ["blanks at the end", "x  ", "x", true],
    ["a Windows line end", "x\r", "x", true],
    ["a set", "[a-c]?", "bz", true],
    ["a set without an end", "[a-c", "[a-c", false],
    ["a fallback rule", "", "x/node_modules/.bin/tsc", true],
    ["a fallback rule taken back", "!node_modules/", "x/node_modules/.bin/tsc", false],
  ])("match as in git: %s", (_name, content, path, expected) => {
    expect(rules(content).ignores(path)).toBe(expected);
  });

  it("let a deeper file override a shallower one, but never include a path below an ignored directory", () => {
    const both = rules("*.log\ndist/\n", { a: "!keep.log\n", dist: "!*\n" });
    expect(["a/keep.log", "keep.log", "dist/x"].map((path) => both.ignores(path))).toEqual([
      false,
      true,
      true,
    ]);
  });

  it("refuse a pattern that is made to be slow", () => {
    const slow = new IgnoreRules([{ directory: "", content: `${"*a".repeat(100)}b` }], [], 1_000_000);
    for (let i = 0; i < 100; i += 1) expect(slow.ignores(`${"a".repeat(250)}${i}/x`)).toBe(false);
    const deep = new IgnoreRules([{ directory: "", content: `${"**/a/".repeat(20)}b` }], [], 1_000_000);
    expect(() => deep.ignores(`${"a/".repeat(400)}c`)).toThrow("ignore-work");
    const many = new IgnoreRules([{ directory: "", content: "x/\n".repeat(200_000) }], [], 1_000_000);
    expect(() => {
      for (let i = 0; i < 100; i += 1) many.ignores(`f${i}`);
    }).toThrow("ignore-work");
  });
});
