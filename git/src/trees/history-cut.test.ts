import { expect, test } from "vitest";
import { cutHistory } from "./history-cut.ts";

const id = (letter: string): string => letter.repeat(40);
const listing = (...commits: string[]): string =>
  commits.map((commit) => `${[...commit].map(id).join(" ")}\n`).join("");

test("a whole history has no end", () => {
  expect(cutHistory(listing("cb", "ba", "a"), new Set())).toEqual({ commits: 3, ends: [] });
});

test("a cut history ends at the parents of its oldest commits, so that each of them keeps its parents", () => {
  expect(cutHistory(listing("ed", "dc"), new Set())).toEqual({ commits: 3, ends: [id("c")] });
});

test("a merge with an old side branch keeps the main line", () => {
  // f merges the old branch b; the main line goes on with e.
  expect(cutHistory(listing("feb", "ed"), new Set())).toEqual({ commits: 4, ends: [id("b"), id("d")] });
});

test("a shallow source ends where it ended before", () => {
  expect(cutHistory(listing("cb", "b"), new Set([id("b")]))).toEqual({ commits: 2, ends: [id("b")] });
});

test("a single commit stands alone", () => {
  expect(cutHistory(listing("cb"), new Set())).toEqual({ commits: 1, ends: [id("c")] });
  expect(cutHistory(listing("a"), new Set())).toEqual({ commits: 1, ends: [] });
  expect(cutHistory(listing("a"), new Set([id("a")]))).toEqual({ commits: 1, ends: [id("a")] });
});
