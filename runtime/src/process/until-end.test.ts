import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { UntilEnd } from "./until-end.ts";

const never = new Promise<never>(() => undefined);

it("gives what the promise gives, or null once the end has come, however it came", async () => {
  let end: () => void = () => undefined;
  const until = new UntilEnd(new Promise<void>((_, reject) => (end = () => reject(new Error("broken")))));
  expect(await until.wait(Promise.resolve(1))).toBe(1);
  await expect(until.wait(Promise.reject(new RangeError("odd")))).rejects.toThrow(RangeError);
  const waiting = until.wait(never);
  end();
  expect(await waiting).toBeNull();
  expect(await until.wait(Promise.reject(new Error("late")))).toBeNull();
});

it("keeps nothing of what it gave before the end", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const until = new UntilEnd(never);
  const given: WeakRef<object>[] = [];
  for (let at = 0; at < 100; at += 1) {
    const value = await until.wait(Promise.resolve({ at }));
    if (value !== null) given.push(new WeakRef(value));
  }
  await new Promise(setImmediate);
  collect();
  const kept = given.filter((ref) => ref.deref() !== undefined).length;
  expect(kept).toBeLessThan(3);
});
