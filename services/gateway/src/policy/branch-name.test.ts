import { describe, expect, it } from "vitest";
import { isListedBranch } from "./branch-name.ts";

describe("a protected branch", () => {
  it.each([
    "main",
    "refs/heads/main",
    "heads/main",
    "refs/heads/heads/main",
    "Main",
    "refs/heads/MAIN",
    "ｍａｉｎ",
    "ma\u200bin",
    "ma\u00adin",
    "main\ufe0f",
  ])("is the same branch as %j", (name) => {
    expect(isListedBranch(name, ["main"])).toBe(true);
    expect(isListedBranch("main", [name])).toBe(true);
  });

  it.each(["maintenance", "topic/main", "mai", "main2", "antiphon/main"])("is different from %j", (name) => {
    expect(isListedBranch(name, ["main"])).toBe(false);
  });

  it("may be a pattern, which cannot be the name of a branch", () => {
    expect(isListedBranch("release/1.0", ["release/*"])).toBe(true);
    expect(isListedBranch("refs/heads/RELEASE/1.0", ["release/*"])).toBe(true);
    expect(isListedBranch("release", ["release/*"])).toBe(false);
    expect(isListedBranch("any/thing", ["**"])).toBe(true);
  });
});
