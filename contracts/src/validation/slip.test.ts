import { expect, test } from "vitest";
import { isSlip } from "./slip.ts";

const NAMES = ["main", "develop", "release/2026", "fix-1", "part-a", "v1", "npm", "allow_unverified"];

const slipOf = (word: string): string | null => NAMES.find((name) => isSlip(word, name)) ?? null;

test.each([
  ["mian", "main"],
  ["amin", "main"],
  ["mainn", "main"],
  ["mein", "main"],
  ["Main", "main"],
  ["devlop", "develop"],
  ["develope", "develop"],
  ["relaese/2026", "release/2026"],
  ["nmp", "npm"],
  ["allowUnverified", "allow_unverified"],
  ["allow_unverifed", "allow_unverified"],
])("%s is a slip of %s", (word, meant) => {
  expect(slipOf(word)).toBe(meant);
});

test.each([
  ...["main", "topic", "fix-2", "fix-11", "part-b", "release/2027", "v2", "1v", "niam", "main-2", "domain"],
  ...["mai", "np", "npx"],
])("%s is a word of its own", (word) => {
  expect(slipOf(word)).toBeNull();
});
