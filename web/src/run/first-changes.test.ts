import { parseDiff } from "react-diff-view";
import { expect, test } from "vitest";
import { firstChanges } from "./first-changes.ts";

const DIFF = [
  "diff --git a/a b/a",
  "--- a/a",
  "+++ b/a",
  "@@ -1 +1,2 @@",
  " one",
  "+two",
  "@@ -9 +10 @@",
  "-x",
  "+y",
  "",
];
const hunks = parseDiff(DIFF.join("\n"))[0]?.hunks ?? [];
const shown = (count: number): string[][] =>
  firstChanges(hunks, count).map(({ changes }) => changes.map(({ content }) => content));

test.each([
  [0, []],
  [1, [["one"]]],
  [2, [["one", "two"]]],
  [3, [["one", "two"], ["x"]]],
  [
    100,
    [
      ["one", "two"],
      ["x", "y"],
    ],
  ],
])("the first %i lines of a file", (count, expected) => {
  expect(shown(count)).toEqual(expected);
});
