import { expect, test } from "vitest";
import { saidUsage } from "./said-usage.ts";

const usage = { event: "result", tokens: ["usage.in", "usage.out"], cost_usd: "cost" };
const line = (value: object): string => JSON.stringify(value);
const lines = (text: string, isWhole = true) => ({ text, format: "jsonl", isWhole }) as const;
const document = (value: unknown, isWhole = true) =>
  ({ text: JSON.stringify(value, null, 2), format: "json", isWhole }) as const;
const two = [
  "a warning that is no event",
  line({ type: "other", usage: { in: 9 } }),
  line({ type: "result", usage: { in: 1000, out: 20 }, cost: 0.5 }),
  line({ event: "result", usage: { in: 2000, out: 40 }, cost: 0.25 }),
].join("\n");

test("the statements of an agent are added up, or the last one counts", () => {
  expect(saidUsage({ ...usage, adds: "sum" }, lines(two))).toEqual({ tokens: 3060, usd: 0.75 });
  expect(saidUsage({ ...usage, adds: "last" }, lines(two))).toEqual({ tokens: 2040, usd: 0.25 });
});

test("without a name of them, all events count", () => {
  const { event: _one, ...all } = usage;
  expect(saidUsage({ ...all, adds: "sum" }, lines(two))).toEqual({ tokens: 3069, usd: 0.75 });
});

test("an agent that says nothing of it is not said to have used nothing", () => {
  expect(saidUsage({ ...usage, adds: "sum" }, lines(line({ type: "result" })))).toBeNull();
  expect(saidUsage({ ...usage, adds: "sum" }, lines(""))).toBeNull();
  expect(saidUsage({ event: "result", tokens: ["usage.in"], adds: "sum" }, lines(two))?.usd).toBeNull();
});

test("money of 0 says nothing, because an agent says so of a model whose price it does not know", () => {
  const free = line({ type: "result", usage: { in: 7 }, cost: 0 });
  expect(saidUsage({ ...usage, adds: "sum" }, lines(free))).toEqual({ tokens: 7, usd: null });
  expect(saidUsage({ event: "result", cost_usd: "cost", adds: "sum" }, lines(free))).toBeNull();
});

test("no sum is made of a transcript whose middle is not kept", () => {
  expect(saidUsage({ ...usage, adds: "sum" }, lines(two, false))).toBeNull();
  expect(saidUsage({ ...usage, adds: "last" }, lines(two, false))).toEqual({ tokens: 2040, usd: 0.25 });
  expect(saidUsage({ tokens: ["n"], adds: "last" }, document({ n: 1 }, false))).toBeNull();
});

test.each([-1, "7", null, [1], { a: 1 }])("%j is no number of tokens", (wrong) => {
  const said = lines(line({ type: "result", n: wrong }));
  expect(saidUsage({ event: "result", tokens: ["n"], adds: "sum" }, said)).toBeNull();
});

test("one document is an event, or has a list of them", () => {
  const messages = [{ role: "user" }, { extra: { used: 1000, cost: 0.5 } }, { extra: { used: 20 } }];
  const numbers = { tokens: ["extra.used"], cost_usd: "extra.cost" };
  const told = document({ info: { total: 1020 }, log: { messages } });
  expect(saidUsage({ ...numbers, list: "log.messages", adds: "sum" }, told)).toEqual({
    tokens: 1020,
    usd: 0.5,
  });
  expect(saidUsage({ tokens: ["info.total"], adds: "last" }, told)).toEqual({ tokens: 1020, usd: null });
});

test.each([
  ["text that is no JSON", { text: '{"log": [', format: "json", isWhole: true } as const],
  ["a document without that list", document({ other: [] })],
  ["something else in its place", document({ log: "none" })],
  ["no object", document([1, 2])],
])("%s says nothing", (_, told) => {
  expect(saidUsage({ list: "log", tokens: ["n"], adds: "sum" }, told)).toBeNull();
});
