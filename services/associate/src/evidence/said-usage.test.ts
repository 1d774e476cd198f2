import { expect, test } from "vitest";
import { saidUsage } from "./said-usage.ts";

const usage = { event: "result", tokens: ["usage.in", "usage.out"], cost_usd: "cost" };
const line = (value: object): string => JSON.stringify(value);
const two = [
  "a warning that is no event",
  line({ type: "other", usage: { in: 9 } }),
  line({ type: "result", usage: { in: 1000, out: 20 }, cost: 0.5 }),
  line({ event: "result", usage: { in: 2000, out: 40 }, cost: 0.25 }),
].join("\n");

test("the statements of an agent are added up, or the last one counts", () => {
  expect(saidUsage({ ...usage, adds: "sum" }, two, true)).toEqual({ tokens: 3060, usd: 0.75 });
  expect(saidUsage({ ...usage, adds: "last" }, two, true)).toEqual({ tokens: 2040, usd: 0.25 });
});

test("an agent that says nothing of it is not said to have used nothing", () => {
  expect(saidUsage({ ...usage, adds: "sum" }, line({ type: "result" }), true)).toBeNull();
  expect(saidUsage({ ...usage, adds: "sum" }, "", true)).toBeNull();
  expect(saidUsage({ event: "result", tokens: ["usage.in"], adds: "sum" }, two, true)?.usd).toBeNull();
});

test("no sum is made of a transcript whose middle is not kept", () => {
  expect(saidUsage({ ...usage, adds: "sum" }, two, false)).toBeNull();
  expect(saidUsage({ ...usage, adds: "last" }, two, false)).toEqual({ tokens: 2040, usd: 0.25 });
});

test.each([-1, "7", null, [1], { a: 1 }])("%j is no number of tokens", (wrong) => {
  expect(
    saidUsage({ event: "result", tokens: ["n"], adds: "sum" }, line({ type: "result", n: wrong }), true),
  ).toBeNull();
});
