import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Silence } from "./silence.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("tells every 15 s what a run is at that says nothing, counted from the last line, and nothing of a run that waits", () => {
  let words: string | null = "verifying in a clean room";
  const told: [string, number][] = [];
  const silence = new Silence({ words: () => words, tell: (...line) => void told.push(line) });
  vi.advanceTimersByTime(14_000);
  silence.broken();
  vi.advanceTimersByTime(42_000);
  expect(told).toEqual([
    ["verifying in a clean room", 15_000],
    ["verifying in a clean room", 30_000],
  ]);
  words = null;
  vi.advanceTimersByTime(60_000);
  expect(told).toHaveLength(2);
  silence.end();
  expect(vi.getTimerCount()).toBe(0);
});

it("tells news that came within 2 s of a line, although nothing else comes", () => {
  let words = "working in a sandbox";
  const told: string[] = [];
  const silence = new Silence({ words: () => words, tell: (line) => void told.push(line) });
  vi.advanceTimersByTime(1_000);
  words = "preparing the environment: npm ci";
  silence.look();
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1_500);
  expect(told).toEqual(["preparing the environment: npm ci"]);
  silence.end();
});
