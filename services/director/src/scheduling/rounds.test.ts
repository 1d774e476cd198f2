import { createLogger } from "@antiphon/runtime";
import { describe, expect, test } from "vitest";
import { Rounds } from "./rounds.ts";

/** Rounds whose pauses end when the test says so. */
function begin(step: () => Promise<"more" | "nothing">) {
  const stop = new AbortController();
  const pauses: (() => void)[] = [];
  const rounds = new Rounds({
    step,
    everyMs: 50,
    failure: "not done",
    log: createLogger("test", { level: "silent" }),
    clock: { sleep: () => new Promise((resolve) => pauses.push(resolve)) },
  });
  const ended = rounds.run(stop.signal);
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    rounds,
    /** Whether a pause was under way; it is over now. */
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

describe("rounds", () => {
  test("D25 no timer runs and no step is made while nothing is needed", async () => {
    let steps = 0;
    const { rounds, pass, stop } = begin(() => Promise.resolve(((steps += 1), "nothing")));
    expect(await pass()).toBe(false);
    rounds.needed();
    rounds.needed();
    expect([await pass(), await pass(), steps]).toEqual([true, false, 1]);
    await stop();
  });

  test("D25 a step that left something, or failed, is followed by another", async () => {
    const ends: (() => Promise<"more" | "nothing">)[] = [
      () => Promise.resolve("more"),
      () => Promise.reject(new Error("not now")),
      () => Promise.resolve("nothing"),
    ];
    const { rounds, pass, stop } = begin(() => ends.shift()!());
    rounds.needed();
    expect([await pass(), await pass(), await pass(), await pass()]).toEqual([true, true, true, false]);
    await stop();
  });

  test("D25 what comes up during a step is not missed", async () => {
    let steps = 0;
    const { rounds, pass, stop } = begin(() => {
      steps += 1;
      if (steps === 1) rounds.needed();
      return Promise.resolve("nothing");
    });
    rounds.needed();
    expect([await pass(), await pass(), await pass(), steps]).toEqual([true, true, false, 2]);
    await stop();
  });
});
