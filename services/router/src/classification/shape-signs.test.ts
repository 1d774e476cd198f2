import { expect, test } from "vitest";
import { SHAPE_SIGNS } from "./shape-signs.ts";

const labelsOf = (text: string): string[] =>
  SHAPE_SIGNS.filter(({ name, seen }) => /^a label of/.test(name) && seen(text)).map(({ name }) => name);

test.each([
  ["[Bug]: Panel is blank", "a label of a fault in front"],
  ["fix(parser): trailing comma", "a label of a fault in front"],
  ["💡 [REQUEST] - night mode", "a label of work in front"],
  ["feat!: async storage", "a label of work in front"],
  ["RFC 12: error model", "a label of a plan in front"],
  ["Spike - which queue", "a label of a plan in front"],
  ["Code review: retry wrapper", "a label of a review in front"],
])("%s has %s", (text, label) => {
  expect(labelsOf(text)).toEqual([label]);
});

test.each(["Fixing the parser", "Bug tracker link", "Review page is slow", "RFC 9110 support", "Ideas"])(
  "a title that only begins with such a word has no label: %s",
  (text) => {
    expect(labelsOf(text)).toEqual([]);
  },
);
