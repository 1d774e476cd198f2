import { describe, expect, it } from "vitest";
import { Deadlines } from "./deadlines.ts";

describe("deadlines", () => {
  it("fire once, not early, at most two ticks late, and leave no timer", () => {
    let now = 1000;
    const deadlines = new Deadlines(() => now, 100);
    const fired: string[] = [];
    deadlines.add(250, () => fired.push("a"));
    const cancelled = deadlines.add(250, () => fired.push("never"));
    deadlines.add(5000, () => fired.push("b"));
    deadlines.cancel(cancelled);
    now = 1200;
    deadlines.sweep();
    expect(fired).toEqual([]);
    now = 1450;
    deadlines.sweep();
    deadlines.sweep();
    expect(fired).toEqual(["a"]);
    now = 1_000_000; // a process that was stopped for a long time
    deadlines.sweep();
    expect(fired).toEqual(["a", "b"]);
    expect(deadlines.size).toBe(0);
  });
});
