import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { STATEMENTS } from "./index.ts";
import { titleOf } from "./statement.ts";

const root = new URL("../../", import.meta.url);

describe("each statement of the seeds that is proved here", () => {
  for (const statement of STATEMENTS) {
    if ("proof" in statement) test(titleOf(statement), statement.proof);
  }
});

describe("each statement of the seeds that another test proves", () => {
  for (const statement of STATEMENTS) {
    if (!("file" in statement)) continue;
    test(`${titleOf(statement)}: its test exists`, () => {
      const file = new URL(statement.file, root);
      expect(existsSync(file), statement.file).toBe(true);
      expect(readFileSync(file, "utf8")).toContain(statement.title);
    });
  }
});

test("statement ids are unique", () => {
  const ids = STATEMENTS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});
