import { expect, test } from "vitest";
import { Generations } from "./generations.ts";

test("remembers the last entries, and never more than twice as many", () => {
  const seen = new Generations<number>(100);
  for (let i = 0; i < 1234; i += 1) {
    seen.set(`k${i}`, i);
    expect(seen.size).toBeLessThanOrEqual(200);
    const last = Array.from({ length: Math.min(i + 1, 100) }, (_, back) => i - back);
    expect(last.every((n) => seen.get(`k${n}`) === n)).toBe(true);
  }
  expect(seen.has("k1033")).toBe(false);
  expect(seen.get("k1033")).toBeUndefined();
  expect(seen.has("k1234")).toBe(false);
});

test("a key that is set again has its newest value and counts as new", () => {
  const seen = new Generations<string>(2);
  seen.set("a", "first");
  seen.set("b", "-");
  seen.set("a", "second");
  seen.set("c", "-");
  expect(seen.get("a")).toBe("second");
});
