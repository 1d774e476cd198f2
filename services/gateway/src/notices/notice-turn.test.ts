import { createLogger } from "@antiphon/runtime";
import { MemoryKv } from "@antiphon/runtime/testing/memory-kv";
import { beforeEach, expect, it } from "vitest";
import { NoticeTurn } from "./notice-turn.ts";

const log = createLogger("turns", { level: "silent" });
const ends = () => Promise.resolve({ "0.closed": 5 });
let kv: MemoryKv;
let now: number;
let one: NoticeTurn;
let other: NoticeTurn;

beforeEach(() => {
  kv = new MemoryKv();
  now = 0;
  const turn = (by: string) => new NoticeTurn({ kv, by, log, turnMs: 90, now: () => now });
  one = turn("one");
  other = turn("other");
});

it("one gateway tells, and another one does not while the turn changes", async () => {
  expect(await one.take(ends)).toMatchObject({ places: { "0.closed": 5 }, last: [] });
  for (; now < 900; now += 80) {
    expect(await other.take(ends)).toBeNull();
    expect(await one.keep({ "0.closed": now }, [`msg_${now}`])).toBe(true);
  }
});

it("a turn that is not renewed is taken with what was told, and its old holder cannot move it on", async () => {
  await one.take(ends);
  await one.keep({ "0.closed": 7 }, ["msg_b", "msg_a"]);
  expect(await other.take(ends)).toBeNull();
  now = 90;
  expect(await other.take(ends)).toMatchObject({ places: { "0.closed": 7 }, last: ["msg_b", "msg_a"] });
  expect(await one.keep({ "0.closed": 8 }, [])).toBe(false);
  expect(await one.take(ends)).toBeNull();
});

it("a gateway that looks and has nothing to tell keeps its turn", async () => {
  for (; now < 900; now += 30) {
    expect(await one.take(ends)).not.toBeNull();
    expect(await other.take(ends)).toBeNull();
  }
});

it("the turn is renewed before a notice is told, and nothing is told if another gateway has it by then", async () => {
  await one.take(ends);
  expect(await other.take(ends)).toBeNull();
  now = 80;
  await one.during(async () => {
    now = 100;
    expect(await other.take(ends)).toBeNull();
  }, new AbortController().signal);
  now = 190;
  expect(await other.take(ends)).not.toBeNull();
  let isTold = false;
  await one.during(() => {
    isTold = true;
    return Promise.resolve();
  }, new AbortController().signal);
  expect(isTold).toBe(false);
  expect(await one.keep({}, [])).toBe(false);
});

it("a turn that is given back is taken at once", async () => {
  await one.take(ends);
  await one.give();
  expect(await other.take(ends)).not.toBeNull();
});

it("a turn is renewed while a notice is told, and the telling ends when the turn is lost", async () => {
  await one.take(ends);
  let before = 0;
  await one.during(async (signal) => {
    before = (await kv.get("told"))?.revision ?? 0;
    const deadline = AbortSignal.timeout(5_000);
    while ((await kv.get("told"))?.revision === before && !deadline.aborted) await new Promise(setImmediate);
    await kv.put("told", { v: 1, by: "other", places: {}, last: [] });
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  }, new AbortController().signal);
  expect((await kv.get("told"))?.revision).toBeGreaterThan(before + 1);
  expect(await one.keep({}, [])).toBe(false);
});

it("a document that says something else is refused", async () => {
  await kv.put("told", { v: 1, by: 7 });
  await expect(one.take(ends)).rejects.toMatchObject({ code: "ANT_STATE_CORRUPT" });
});
