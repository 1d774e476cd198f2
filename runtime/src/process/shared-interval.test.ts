import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { SharedInterval } from "./shared-interval.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

it("an interval ticks for all its operations with one timer, and leaves none when the last one is gone", () => {
  const interval = new SharedInterval(250);
  const ticks = [0, 0, 0];
  const stops = ticks.map((_, i) => interval.add(() => void (ticks[i] = (ticks[i] ?? 0) + 1)));
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(500);
  stops[1]?.();
  stops[1]?.();
  vi.advanceTimersByTime(250);
  expect(ticks).toEqual([3, 2, 3]);
  stops[0]?.();
  stops[2]?.();
  expect(vi.getTimerCount()).toBe(0);
  interval.add(() => void (ticks[0] = 10));
  vi.advanceTimersByTime(250);
  expect(ticks[0]).toBe(10);
});
