import { createLogger } from "@antiphon/runtime";
import { describe, expect, test } from "vitest";
import { WakeableLoop } from "./wakeable-loop.ts";

/** A loop whose pauses end when the test calls `pass`. */
function begin(step: () => Promise<"more" | "nothing">) {
  const stop = new AbortController();
  const pauses: (() => void)[] = [];
  const loop = new WakeableLoop({
    step,
    everyMs: 50,
    failure: "not done",
    log: createLogger("test", { level: "silent" }),
    clock: { sleep: () => new Promise((resolve) => pauses.push(resolve)) },
  });
  const ended = loop.run(stop.signal);
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    loop,
    /** Ends the pause that is under way; false if there is none. */
    pass: async (): Promise<boolean> => {
      await settled();
      const end = pauses.shift();
      end?.();
      await settled();
      return end !== undefined;
    },
    stop: async (): Promise<void> => {
      stop.abort();
      for (const end of pauses) end();
      await ended;
    },
  };
}

describe("a wakeable loop", () => {
  test("runs no timer and no step while nothing is needed", async () => {
    let steps = 0;
    const { loop, pass, stop } = begin(() => Promise.resolve(((steps += 1), "nothing")));
    expect(await pass()).toBe(false);
    loop.needed();
    loop.needed();
    expect([await pass(), await pass(), steps]).toEqual([true, false, 1]);
    await stop();
  });

  test("a step that left work, or failed, is followed by another", async () => {
    const ends: (() => Promise<"more" | "nothing">)[] = [
      () => Promise.resolve("more"),
      () => Promise.reject(new Error("not now")),
      () => Promise.resolve("nothing"),
    ];
    const { loop, pass, stop } = begin(() => ends.shift()!());
    loop.needed();
    expect([await pass(), await pass(), await pass(), await pass()]).toEqual([true, true, true, false]);
    await stop();
  });

  test("a step that is requested during a step follows it", async () => {
    let steps = 0;
    const { loop, pass, stop } = begin(() => {
      steps += 1;
      if (steps === 1) loop.needed();
      return Promise.resolve("nothing");
    });
    loop.needed();
    expect([await pass(), await pass(), await pass(), steps]).toEqual([true, true, false, 2]);
    await stop();
  });
});
