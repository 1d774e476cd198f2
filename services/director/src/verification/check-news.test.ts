import { expect, test } from "vitest";
import { endOf, startOf } from "./check-news.ts";

test("each check is told by its command, with how it ended and what comes next", () => {
  const commands = ["npm test", "npm run\n  lint", "x".repeat(200)];
  expect(startOf(commands)).toBe("running npm test");
  expect(endOf(commands, 0, 0)).toBe("npm test passed, running npm run lint");
  expect(endOf(commands, 1, 3)).toBe(`npm run lint exited 3, running ${"x".repeat(119)}…`);
  expect(endOf(commands, 2, null)).toBe(`${"x".repeat(119)}… did not finish`);
});
