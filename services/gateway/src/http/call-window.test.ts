import { expect, it } from "vitest";
import { CallWindow } from "./call-window.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z");

it("admits only the allowed number of calls in any window, and gives the time of the next one", () => {
  const window = new CallWindow(60_000);
  const admitted: number[] = [];
  for (let at = NOW; at < NOW + 300_000; at += 250) {
    if (window.freeAt(at, 10) > at) continue;
    window.add(at);
    admitted.push(at);
  }
  for (const from of admitted)
    expect(admitted.filter((at) => at >= from && at < from + 60_000).length).toBeLessThanOrEqual(10);
  expect(admitted.length).toBeGreaterThan(40);
});

it("gives a time at which the call is really admitted", () => {
  const window = new CallWindow(60_000);
  for (let i = 0; i < 3; i += 1) window.add(NOW + i * 5_000);
  const free = window.freeAt(NOW + 20_000, 3);
  expect(free).toBeGreaterThanOrEqual(NOW + 60_000);
  expect(free).toBeLessThanOrEqual(NOW + 61_000);
  expect(window.freeAt(free, 3)).toBe(free);
});

it("admits no call at a limit of zero, and tolerates a clock that goes back", () => {
  const window = new CallWindow(1_000);
  expect(window.freeAt(NOW, 0)).toBe(NOW + 1_000);
  window.add(NOW);
  window.add(NOW - 500_000);
  expect(window.freeAt(NOW, 2)).toBeGreaterThan(NOW);
});
