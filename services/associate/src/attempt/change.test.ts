import { describe, expect, test } from "vitest";
import { merged, withoutJunk } from "./change.ts";

const file = (path: string, content = path) => ({ path, mode: "100644" as const, content });

describe("merged", () => {
  test("the second change wins where both wrote a file", () => {
    const both = merged(
      { files: [file("a", "1"), file("b")], deletions: [] },
      { files: [file("a", "2")], deletions: [] },
    );
    expect(both).toEqual({ files: [file("b"), file("a", "2")], deletions: [] });
  });

  test("a file that the second change removed is a deletion", () => {
    const both = merged({ files: [file("a")], deletions: ["x"] }, { files: [], deletions: ["a"] });
    expect(both).toEqual({ files: [], deletions: ["x", "a"] });
  });

  test("a file that the first change removed and the second wrote again is kept", () => {
    const both = merged({ files: [], deletions: ["a"] }, { files: [file("a")], deletions: [] });
    expect(both).toEqual({ files: [file("a")], deletions: [] });
  });
});

test("an agent's own files are no part of a change", () => {
  const change = {
    files: [file(".agent/log"), file("src/a.ts"), file(".agent.log")],
    deletions: [".agent/old", "b"],
  };
  expect(withoutJunk(change, [".agent/**", ".agent.*"])).toEqual({
    files: [file("src/a.ts")],
    deletions: ["b"],
  });
  expect(withoutJunk(change, [])).toBe(change);
});
