import { expect, it } from "vitest";
import { NewsPace } from "./news-pace.ts";

it("tells the first stage and each new one after 2 s of silence, and more of the same stage after 10 s", () => {
  const pace = new NewsPace(0);
  expect(pace.due("", 5_000)).toBe(false);
  expect(pace.due("preparing the environment: npm ci", 1_900)).toBe(false);
  expect(pace.due("preparing the environment: npm ci", 2_000)).toBe(true);
  expect(pace.due("preparing the environment for 11 s: npm ci: added 3", 11_900)).toBe(false);
  expect(pace.due("preparing the environment for 12 s: npm ci: added 3", 12_000)).toBe(true);
  expect(pace.due("preparing the environment for 12 s: npm ci: added 3", 60_000)).toBe(false);
  expect(pace.due("running npm run test:unit", 61_000)).toBe(true);
  expect(pace.due("npm run test:unit passed, running npm run test:all", 62_900)).toBe(false);
  expect(pace.due("npm run test:unit passed, running npm run test:all", 63_000)).toBe(true);
  expect(pace.due("npm run test:all exited 1", 65_000)).toBe(true);
});
