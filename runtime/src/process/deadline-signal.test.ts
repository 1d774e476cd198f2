import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { deadlineSignal } from "./deadline-signal.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("a deadline aborts after a collection of garbage, beside a caller's signal as well", async () => {
  const caller = new AbortController();
  const ended = [deadlineSignal(50), deadlineSignal(50, caller.signal)].map((signal) =>
    once(signal, "abort"),
  );
  collectGarbage();
  await Promise.all(ended);
});

test("a caller's abort comes first, with its reason", () => {
  const caller = new AbortController();
  const signal = deadlineSignal(60_000, caller.signal);
  caller.abort(new Error("enough"));
  expect(signal.reason).toEqual(new Error("enough"));
});
