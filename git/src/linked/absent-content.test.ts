import { expect, test } from "vitest";
import { absentContent } from "./absent-content.ts";

const module = (path: string) => ({ path, commit: "c".repeat(40), store: null });
const file = (path: string, place: string | null = null) => ({
  path,
  mode: "100644",
  pointer: { oid: "a".repeat(64), size: 1 },
  place,
});

test("each absent submodule is named with the command that fetches it", () => {
  expect(absentContent({ submodules: [module("vendor/lib")], files: [] })).toEqual([
    "submodule vendor/lib at cccccccccccc; fetch it with `git submodule update --init vendor/lib`",
  ]);
});

test("files in Git LFS are named together, without those that are there", () => {
  const files = ["a", "b", "c", "d", "e"].map((path) => file(path, path === "b" ? "/there" : null));
  expect(absentContent({ submodules: [], files })).toEqual([
    "content of Git LFS for a, c, d and 1 more; fetch it with `git lfs pull`",
  ]);
});

test("the sentences are bounded and cannot rewrite a terminal", () => {
  const submodules = Array.from({ length: 300 }, (_, i) => module(`m${i}\u001b[2J\u202e${"x".repeat(500)}`));
  const sentences = absentContent({ submodules, files: [file("f")] });
  expect(sentences).toHaveLength(16);
  expect(sentences.at(-2)).toContain("286 more submodules");
  for (const sentence of sentences) {
    expect(sentence.length).toBeLessThanOrEqual(512);
    expect(sentence).not.toMatch(/[\u0000-\u001f\u202e]/);
  }
});
