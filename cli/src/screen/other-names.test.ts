import { expect, test } from "vitest";
import { otherName } from "./other-names.ts";

test.each([
  [["list"], "list", "runs"],
  [["status", "run_a"], "status", "get"],
  [["export", "run_a"], "export", "evidence export"],
  [["evidence", "list"], "list", "evidence get"],
  [["--json", "list", "runs"], "list", "runs"],
  [["keys", "list"], "list", null],
  [["constructor"], "constructor", null],
])("%j: %s means %s", (args, unknown, meant) => {
  expect(otherName(args, unknown)).toBe(meant);
});
