import { expect, test } from "vitest";
import type { AttemptEnd } from "../attempt/attempt-end.ts";
import type { Holder } from "./holder-signs.ts";
import { afterClaim, afterLook, afterWork } from "./claim.ts";

const other = { associate: "as_b", incarnation: "live_b" };
const lapsed = { kind: "record", body: { kind: "lapsed", observer: "as_a", holder: "as_b" } };

test.each([
  ["this process", null, 1, false, { kind: "work" }],
  ["this process", null, 3, false, { kind: "work" }],
  ["this process", null, 2, true, { kind: "done" }],
  ["another", other, 1, false, { kind: "retry", code: "ANT_CLAIM_LOST" }],
  ["another", other, 2, false, { kind: "look", holder: other }],
  ["another", other, 2, true, { kind: "done" }],
])(
  "associate/A1: a claim held by %s (%s) on delivery %i, with a result: %s, means %o",
  (_, holder, deliveries, hasResult, next) => {
    expect(afterClaim(holder, deliveries, hasResult)).toMatchObject(next);
  },
);

test.each<[Holder, object]>([
  ["working", { kind: "retry", code: "ANT_CLAIM_LOST" }],
  ["unknown", { kind: "retry", code: "ANT_CLAIM_LOST" }],
  ["ended", lapsed],
  ["gone", lapsed],
  ["silent", lapsed],
])("associate/A8: the claim of a holder that is %s means %o", (seen, next) => {
  expect(afterLook(seen, "as_b", "as_a")).toMatchObject(next);
});

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
