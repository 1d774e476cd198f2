import { describe, expect, it } from "vitest";
import { onAbort } from "./abort-listeners.ts";

describe("the listeners of a shared abort signal", () => {
  it("are each called once, in order, and not after they were taken back", () => {
    const abort = new AbortController();
    const heard: string[] = [];
    const say = (word: string) => () => void heard.push(word);
    const stop = ["a", "b", "c"].map((word) => onAbort(abort.signal, say(word)))[1];
    stop?.();
    abort.abort();
    abort.abort();
    expect(heard).toEqual(["a", "c"]);
  });

  it("are counted by their additions, so one that is taken back leaves its twin", () => {
    const abort = new AbortController();
    let calls = 0;
    const listener = (): void => void (calls += 1);
    onAbort(abort.signal, listener);
    onAbort(abort.signal, listener)();
    abort.abort();
    expect(calls).toBe(1);
  });

  it("may take each other back while they are called", () => {
    const abort = new AbortController();
    const heard: string[] = [];
    const stops: (() => void)[] = [];
    onAbort(abort.signal, () => {
      heard.push("first");
      for (const stop of stops) stop();
    });
    stops.push(onAbort(abort.signal, () => void heard.push("second")));
    abort.abort();
    expect(heard).toEqual(["first"]);
  });

  it("of a signal that was aborted before are not called", () => {
    let calls = 0;
    onAbort(AbortSignal.abort(), () => (calls += 1))();
    expect(calls).toBe(0);
  });
});
