import { describe, expect, it } from "vitest";
import { OutputWindow } from "./output-window.ts";

describe("an output window", () => {
  it("lets pieces through until it is full, and makes the next piece wait until some were taken", async () => {
    const window = new OutputWindow(100);
    expect(window.sent(60)).toBeUndefined();
    const first = window.sent(60);
    const second = window.sent(60);
    let went = 0;
    void first?.then(() => (went += 1));
    void second?.then(() => (went += 1));
    window.taken(60); // 120 are still under way
    await Promise.resolve();
    expect(went).toBe(0);
    window.taken(120);
    await Promise.all([first, second]);
    expect(went).toBe(2);
  });

  it("ignores a count above what was sent, and a count that goes back", async () => {
    const window = new OutputWindow(100);
    const waiting = window.sent(150);
    window.taken(1_000);
    await waiting;
    window.taken(0);
    expect(window.sent(90)).toBeUndefined();
    expect(window.sent(20)).toBeInstanceOf(Promise);
  });
});
