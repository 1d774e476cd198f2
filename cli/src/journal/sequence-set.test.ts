import { expect, test } from "vitest";
import { SequenceSet } from "./sequence-set.ts";

test("gives the ranges that were not seen, and grows as sequences are added", () => {
  const set = new SequenceSet();
  for (const seq of [1, 2, 5, 9, 100_000]) set.add(seq);
  expect(set.gapsUpTo(10)).toEqual([
    [3, 4],
    [6, 8],
    [10, 10],
  ]);
  expect([set.has(100_000), set.has(99_999)]).toEqual([true, false]);
  expect(new SequenceSet().gapsUpTo(0)).toEqual([]);
});
