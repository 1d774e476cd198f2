import { expect, test } from "vitest";
import type { AttemptEnd } from "../attempt/attempt-end.ts";
import { afterClaim, afterWork } from "./claim.ts";

const lapsed = { kind: "record", body: { kind: "lapsed", observer: "as_a", holder: "as_b" } };

test.each([
  ["this process", null, 1, false, { kind: "work" }],
  ["this process", null, 3, false, { kind: "work" }],
  ["this process", null, 2, true, { kind: "done" }],
  ["another", "as_b", 1, false, { kind: "retry", code: "ANT_CLAIM_LOST" }],
  ["another", "as_b", 2, false, lapsed],
  ["another", "as_b", 2, true, { kind: "done" }],
])(
  "associate/A1: a claim held by %s (%s) on delivery %i, with a result: %s, means %o",
  (_, holder, deliveries, hasResult, next) => {
    expect(afterClaim(holder, "as_a", deliveries, hasResult)).toMatchObject(next);
  },
);

const fault = { code: "ANT_SANDBOX_LEFT", message: "it may live" };

test.each<[string, AttemptEnd, object]>([
  ["an outage", { kind: "abandoned", ...fault, outage: true }, { ...fault, outage: true }],
  ["a stop by a shutdown", { kind: "stopped", why: "draining" }, { code: "ANT_ASSOCIATE_DRAINING" }],
  ["a lost claim whose container may live", { kind: "stopped", why: "fenced", left: fault }, fault],
])("associate/A2: %s is recorded as abandoned", (_, end, body) => {
  const record = { kind: "record", body: { kind: "abandoned", associate: "as_a", ...body } };
  expect(afterWork(end, "as_a")).toMatchObject(record);
});

test("a canceled attempt records nothing; after a lost claim the dispatch is looked at again", () => {
  expect(afterWork({ kind: "stopped", why: "canceled" }, "as_a")).toEqual({ kind: "done" });
  expect(afterWork({ kind: "stopped", why: "fenced" }, "as_a")).toMatchObject({ kind: "retry" });
});
