import type { Presence } from "@antiphon/runtime";
import { expect, test } from "vitest";
import { hearsItself } from "./hearing.ts";

const { signal } = new AbortController();
const clock = { sleep: () => Promise.resolve() };
const times = (count: number, kind: Presence["kind"]) => Array<Presence["kind"]>(count).fill(kind);

/** Whether it hears itself, and after how many questions. */
async function asked(...kinds: Presence["kind"][]): Promise<[boolean, number]> {
  let questions = 0;
  const hears = await hearsItself(async () => kinds[questions++] ?? "answer", clock, signal);
  return [hears, questions];
}

test("a process that starts while the server is shaky asks until it answers, and can be asked then", async () => {
  expect(await asked(...times(500, "silent"), ...times(500, "unasked"))).toEqual([true, 1001]);
  expect(await asked(...times(20, "nobody"), "unasked", ...times(20, "nobody"))).toEqual([true, 42]);
});

test("a process that may not ask, or may not listen, cannot be asked", async () => {
  expect(await asked("silent", "forbidden")).toEqual([false, 2]);
  expect(await asked(...times(100, "nobody"))).toEqual([false, 32]);
});

test("a process that has to stop asks no more", async () => {
  const stop = new AbortController();
  const ask = async (): Promise<"silent"> => (stop.abort(), "silent");
  expect(await hearsItself(ask, clock, stop.signal)).toBe(false);
});
