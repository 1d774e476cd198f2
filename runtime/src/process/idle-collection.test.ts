import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { collectWhenIdle, processLoad } from "./idle-collection.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(() => void vi.useRealTimers());

it("a process collects once after it has worked, when it has been idle for a while", () => {
  let busy = 0.4;
  let collections = 0;
  const stop = collectWhenIdle({ busy: () => busy, collect: () => (collections += 1) });
  vi.advanceTimersByTime(30_000);
  expect(collections).toBe(0);
  busy = 0.002;
  vi.advanceTimersByTime(60_000);
  expect(collections).toBe(1);
  busy = 0.02;
  vi.advanceTimersByTime(10_000);
  busy = 0;
  vi.advanceTimersByTime(20_000);
  expect(collections).toBe(2);
  stop();
  busy = 0.5;
  expect(vi.getTimerCount()).toBe(0);
});

it("a collection is no work that has to be followed by another one", () => {
  let busy = 0;
  let collections = 0;
  const look = (): number => {
    const share = busy;
    busy = 0;
    return share;
  };
  const collect = (): void => {
    collections += 1;
    busy = 0.02;
  };
  const stop = collectWhenIdle({ busy: look, collect });
  vi.advanceTimersByTime(120_000);
  expect(collections).toBe(1);
  stop();
});

it("an object that nothing refers to is gone after a collection", async () => {
  const { collect } = processLoad();
  const kept = new WeakRef({ text: "x".repeat(1_000) });
  await new Promise(setImmediate); // A reference that was made or read is strong until its task ends.
  collect();
  expect(kept.deref()).toBeUndefined();
});
