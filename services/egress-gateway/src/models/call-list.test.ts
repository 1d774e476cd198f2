import { expect, test } from "vitest";
import type { BlobRef, ModelRecording } from "@antiphon/contracts";
import type { Kv } from "@antiphon/runtime";
import { CallLists, isWhole } from "./call-list.ts";

const AT = { run: "run_x", task: "T-001", epoch: 1 };
const call = (name: string): BlobRef => ({ bucket: "b", name, digest: name, bytes: 1 });

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
  expect(await lists.of(AT)).toEqual([]);
  const write = lists.writer(AT);
  write([call("1")]);
  write([call("1"), call("2")]);
  write([call("1"), call("2"), call("3")]);
  release();
  await expect.poll(() => lists.of(AT)).toHaveLength(3);
  expect(puts).toBe(2);
});

test("a list that cannot be stored is told, and stops nothing", async () => {
  const told: unknown[] = [];
  const kv = { put: () => Promise.reject(new Error("full")) } as unknown as Kv;
  new CallLists(kv, (error) => told.push(error)).writer(AT)([call("1")]);
  await expect.poll(() => told).toHaveLength(1);
});

test.each([
  [{ status: 200, truncated: false }, true],
  [{ status: 200, truncated: false, whole: false }, false],
  [{ status: 200, truncated: true }, false],
  [{ status: 429, truncated: false }, false],
  [{ status: 0, truncated: false }, false],
])("of the answers only whole ones are gone on from: %j", (response, expected) => {
  expect(isWhole({ response } as ModelRecording)).toBe(expected);
});
