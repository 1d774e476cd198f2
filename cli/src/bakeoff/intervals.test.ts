import { expect, test } from "vitest";
import { meanOf, shareOf } from "./intervals.ts";

test("a share has the interval of Wilson, also where nothing or everything was a hit", () => {
  expect(shareOf(0, 0)).toBeNull();
  const half = shareOf(5, 10);
  expect([half?.estimate, half?.low?.toFixed(4), half?.high?.toFixed(4)]).toEqual([0.5, "0.2366", "0.7634"]);
  expect(shareOf(0, 10)?.high?.toFixed(4)).toBe("0.2775");
  expect(shareOf(10, 10)?.low?.toFixed(4)).toBe("0.7225");
  expect(shareOf(10, 10)?.high).toBeCloseTo(1, 12);
});

test("a mean has an interval that holds it, the same each time, and narrower with more observations", () => {
  const few = [1, 2, 4, 9];
  const many = Array.from({ length: 20 }, () => few).flat();
  const [wide, narrow] = [meanOf(few), meanOf(many)];
  expect(meanOf(few)).toEqual(wide);
  expect(wide).toMatchObject({ estimate: 4 });
  expect(wide?.low).toBeLessThan(4);
  expect(wide?.high).toBeGreaterThan(4);
  const width = (one: typeof wide): number => (one?.high ?? 0) - (one?.low ?? 0);
  expect(width(narrow)).toBeLessThan(width(wide) / 3);
});

test("one observation has no interval, and none has no mean", () => {
  expect(meanOf([3])).toEqual({ estimate: 3, low: null, high: null });
  expect(meanOf([])).toBeNull();
  expect(meanOf([2, 2, 2])).toEqual({ estimate: 2, low: 2, high: 2 });
});

test("about 95 of 100 intervals of a mean hold the true one", () => {
  let state = 7;
  const random = (): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  const rounds = 300;
  let held = 0;
  for (let round = 0; round < rounds; round += 1) {
    const seen = Array.from({ length: 40 }, () => -Math.log(1 - random())); // exponential, of mean 1
    const { low, high } = meanOf(seen) ?? { low: 0, high: 0 };
    if ((low ?? 0) <= 1 && 1 <= (high ?? 0)) held += 1;
  }
  expect(held / rounds).toBeGreaterThan(0.88);
});
