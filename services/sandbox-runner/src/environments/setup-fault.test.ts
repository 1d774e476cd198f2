import type { EgressReport } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { faultOf, SetupFault } from "./setup-fault.ts";

const traffic: EgressReport = {
  ...{ log: null, requests: 5, refused: 0, bytes_up: 0, bytes_down: 0, recordings: [] },
  ...{ model_calls: 0, model_tokens: 0, model_usd_micro: 0 },
};
const fault = (report: Partial<EgressReport>): string =>
  (faultOf(new SetupFault("`npm ci` exited 1"), { ...traffic, ...report }) as SetupFault).message;

test.each<[string, Partial<EgressReport>, string]>([
  ["nothing of downloads that passed", {}, "`npm ci` exited 1"],
  [
    "the first request that failed",
    { first_failed: "GET a.test: ECONNREFUSED" },
    "`npm ci` exited 1; a request of it failed: GET a.test: ECONNREFUSED",
  ],
  [
    "the first request that was refused, before one that failed",
    { refused: 2, first_refused: "GET b.test: private", first_failed: "GET a.test: ECONNREFUSED" },
    "`npm ci` exited 1; the egress gateway refused 2 of its 5 requests, first GET b.test: private",
  ],
])("a setup that fails names %s", (_what, report, told) => {
  expect(fault(report)).toBe(told);
});
