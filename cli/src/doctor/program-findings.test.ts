import { expect, test } from "vitest";
import { gitFinding } from "./program-findings.ts";

test.each([
  ["git version 2.38.0", "ok", "2.38.0"],
  ["git version 2.51.GIT", "ok", "2.51"],
  ["git version 3.0.1 (Apple Git-154)", "ok", "3.0.1"],
  ["git version 2.30.2", "problem", "2.30.2 is older than 2.38"],
  ["git version 1.99.9", "problem", "1.99.9 is older than 2.38"],
  ["", "problem", "not found"],
])("the doctor says of %j: %s, %s", (said, state, detail) => {
  expect(gitFinding(said)).toMatchObject({ state, detail });
});
