import { expect, it } from "vitest";
import { NewsPace } from "./news-pace.ts";

it("tells the first stage and each new one after 2 s of silence, and more of the same stage after 10 s", () => {
  const pace = new NewsPace(0);
  expect(pace.due("", 5_000)).toBe(false);
  expect(pace.due("preparing the environment: npm ci", 1_900)).toBe(false);
  expect(pace.due("preparing the environment: npm ci", 2_000)).toBe(true);
  expect(pace.due("preparing the environment for 11 s: npm ci: added 3", 11_900)).toBe(false);
  expect(pace.due("preparing the environment for 12 s: npm ci: added 3", 12_000)).toBe(true);
  expect(pace.due("running npm run test:unit", 13_000)).toBe(false);
  expect(pace.due("running npm run test:unit", 14_000)).toBe(true);
  expect(pace.due("npm run test:unit passed, running npm run test:all", 15_900)).toBe(false);
  expect(pace.due("npm run test:unit passed, running npm run test:all", 16_000)).toBe(true);
  expect(pace.due("npm run test:all exited 1", 18_000)).toBe(true);
});

it("says the same words again every 15 s, and once a minute after 5 minutes", () => {
  const pace = new NewsPace(0, { told: "verifying" });
  const told = Array.from({ length: 600 }, (_, second) => second).filter((second) =>
    pace.due("verifying", second * 1_000),
  );
  const often = Array.from({ length: 19 }, (_, n) => (n + 1) * 15);
  expect(told).toEqual([...often, 345, 405, 465, 525, 585]);
  expect(pace.standsMs(599_000)).toBe(599_000);
});

it("says that something is under way although nothing was heard of it", () => {
  const pace = new NewsPace(0);
  expect([14_900, 15_000, 16_000, 30_000].filter((ms) => pace.due("", ms))).toEqual([15_000, 30_000]);
});

it("waits longer before the later stages of a run than before the first", () => {
  const pace = new NewsPace(0, { told: "working in a sandbox", laterStageMs: 10_000 });
  expect([1_000, 2_000].filter((ms) => pace.due("reads a.ts", ms))).toEqual([2_000]);
  expect([4_000, 11_000, 12_000].filter((ms) => pace.due("writes a.ts", ms))).toEqual([12_000]);
});
