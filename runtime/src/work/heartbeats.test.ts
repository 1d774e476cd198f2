import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Heartbeats } from "./heartbeats.ts";

const ACK_WAIT_MS = 3_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
afterEach(() => void vi.useRealTimers());

describe("the heartbeats of deliveries", () => {
  it("come at least every half of the ack wait, whenever a delivery began, and no oftener than every quarter", () => {
    const heartbeats = new Heartbeats(ACK_WAIT_MS);
    const held = Array.from({ length: 7 }, () => {
      const begun = performance.now();
      const beats: number[] = [begun];
      heartbeats.hold({ beat: () => void beats.push(performance.now()) });
      vi.advanceTimersByTime(131);
      return beats;
    });
    vi.advanceTimersByTime(20 * ACK_WAIT_MS);
    for (const beats of held) {
      expect(beats.length).toBeGreaterThan(40);
      const pauses = beats.slice(1).map((at, i) => at - (beats[i] ?? 0));
      expect(Math.max(...pauses)).toBeLessThanOrEqual(ACK_WAIT_MS / 2);
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(ACK_WAIT_MS / 4);
    }
  });

  it("end with the delivery, and no timer is left when none is held", () => {
    const heartbeats = new Heartbeats(ACK_WAIT_MS);
    let beats = 0;
    const delivery = { beat: () => void (beats += 1) };
    const other = { beat: () => undefined };
    heartbeats.hold(delivery);
    heartbeats.hold(other);
    vi.advanceTimersByTime(ACK_WAIT_MS);
    const before = beats;
    expect(before).toBeGreaterThan(0);
    heartbeats.release(delivery);
    vi.advanceTimersByTime(ACK_WAIT_MS);
    expect(beats).toBe(before);
    expect(vi.getTimerCount()).toBe(1);
    heartbeats.release(other);
    expect(vi.getTimerCount()).toBe(0);
  });
});
