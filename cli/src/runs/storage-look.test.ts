import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { PresentWork } from "./present-work.ts";
import { lookAtStorage } from "./storage-look.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("says while a run is silent that the server has no room, and no more once it has, or cannot be asked", async () => {
  const full = {
    code: "ANT_NATS_NO_SPACE",
    message: "JetStream accepts no more records",
    remedy: "Free some.",
  };
  const answers = [full, null, full];
  const get = vi.fn(() => {
    const storage = answers.shift();
    return storage === undefined
      ? Promise.reject(new Error("gone"))
      : Promise.resolve({ services: [], storage });
  });
  const present = new PresentWork("run_a");
  const stop = lookAtStorage({ get }, present);
  const seen: (string | null)[] = [];
  for (let look = 0; look < 4; look += 1) {
    await vi.advanceTimersByTimeAsync(10_000);
    seen.push(present.words());
  }
  const silent = "waiting for the gateway";
  const told = `${silent}; ANT_NATS_NO_SPACE: JetStream accepts no more records`;
  expect(seen).toEqual([told, silent, told, silent]);
  stop();
  expect(vi.getTimerCount()).toBe(0);
});
