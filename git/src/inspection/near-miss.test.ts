import { expect, test } from "vitest";
import { nearMiss } from "./near-miss.ts";

const BRANCHES = ["main", "develop", "release/2026", "fix-1", "part-a", "v1"];

test.each([
  ["mian", "main"],
  ["mai", null],
  ["amin", "main"],
  ["mainn", "main"],
  ["mein", "main"],
  ["Main", "main"],
  ["devlop", "develop"],
  ["develope", "develop"],
  ["relaese/2026", "release/2026"],
])("%s is a near miss of %s", (name, meant) => {
  expect(nearMiss(name, BRANCHES)).toBe(meant);
});

test.each(["main", "topic", "fix-2", "fix-11", "part-b", "release/2027", "v2", "niam", "main-2", "domain"])(
  "%s is a name of its own",
  (name) => {
    expect(nearMiss(name, BRANCHES)).toBeNull();
  },
);
