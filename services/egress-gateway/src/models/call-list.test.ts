import { expect, test } from "vitest";
import { limits, type BlobRef } from "@antiphon/contracts";
import type { Kv } from "@antiphon/runtime";
import { CallLists, type Listed } from "./call-list.ts";

const AT = { run: "run_x", task: "T-001", epoch: 1 };
const call = (name: string, bytes = 1): BlobRef => ({ bucket: "b", name, digest: name, bytes });
const listed = (...names: string[]): Listed => ({ calls: names.map((name) => call(name)) });

test("the newest list is stored in the end, also if calls come while one is written", async () => {
  const stored = new Map<string, unknown>();
  let release = (): void => undefined;
  let puts = 0;
  const kv = {
    put: async (key: string, value: unknown) => {
      puts += 1;
      if (puts === 1) await new Promise<void>((resolve) => (release = resolve));
      stored.set(key, value);
      return puts;
    },
    get: (key: string) => Promise.resolve(stored.has(key) ? { value: stored.get(key), revision: 1 } : null),
  } as unknown as Kv;
  const lists = new CallLists(kv, (error) => {
    throw error;
  });
  expect(await lists.of(AT)).toEqual({ calls: [] });
  const write = lists.writer(AT);
  write(listed("1"));
  write(listed("1", "2"));
  write(listed("1", "2", "3"));
  release();
  await expect.poll(() => lists.of(AT)).toEqual(listed("1", "2", "3"));
  expect(puts).toBe(2);
});

test("a list that cannot be stored is told, and stops nothing", async () => {
  const told: unknown[] = [];
  const kv = { put: () => Promise.reject(new Error("full")) } as unknown as Kv;
  new CallLists(kv, (error) => told.push(error)).writer(AT)(listed("1"));
  await expect.poll(() => told).toHaveLength(1);
});

test("a list ends where a later attempt would not read on, and is not written again for the calls after that", async () => {
  let puts = 0;
  let last: unknown = null;
  const kv = {
    put: (_key: string, value: unknown) => {
      puts += 1;
      last = value;
      return Promise.resolve(puts);
    },
  } as unknown as Kv;
  const write = new CallLists(kv, (error) => {
    throw error;
  }).writer(AT);
  const half = limits.resumedBytes / 2;
  const calls = [call("1", half), call("2", half)];
  write({ calls });
  for (const name of ["3", "4", "5"]) {
    calls.push(call(name));
    write({ calls });
  }
  await expect.poll(() => last).toEqual({ calls: calls.slice(0, 2) });
  expect(puts).toBe(1);
});
