import { describe, expect, test } from "vitest";
import { judge, type Trial } from "./judge.ts";
import { check } from "./testing/record-log.ts";

const trial: Trial = {
  checks: [check(0)],
  again: null,
  base: null,
  unproven: [],
  tampered: [],
  readOnly: false,
  allowUnverified: false,
  allowUnproven: false,
};

describe("judge", () => {
  test.each([
    ["a failing check", { checks: [check(1)], again: [check(1)] }, "FAIL", "ANT_VERIFY_CHECK_FAILED"],
    [
      "a check that timed out",
      { checks: [check(null, true)], again: [check(null, true)] },
      "FAIL",
      "ANT_VERIFY_CHECK_FAILED",
    ],
    ["one bad check among good ones", { checks: [check(0), check(2)] }, "FAIL", "ANT_VERIFY_CHECK_FAILED"],
    [
      "V4 a check that fails and then passes",
      { checks: [check(1)], again: [check(0)] },
      "FLAKY",
      "ANT_VERIFY_FLAKY",
    ],
    ["V5 no check", { checks: [] }, "UNVERIFIABLE", "ANT_VERIFY_NO_CHECK"],
    ["V5 no check, by grant", { checks: [], allowUnverified: true }, "PASS", "ANT_VERIFY_NO_CHECK"],
    ["no check on a task that only reads", { checks: [], readOnly: true }, "PASS", null],
    [
      "V2 a check that passes without the change",
      { base: [check(0)] },
      "UNVERIFIABLE",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    ["V2 the same, by grant", { base: [check(0)], allowUnproven: true }, "PASS", "ANT_VERIFY_PROVES_NOTHING"],
    ["V2 a check that failed without the change", { base: [check(1)] }, "PASS", null],
    ["a passing check", {}, "PASS", null],
  ])("%s", (_name, change, verdict, code) => {
    expect(judge({ ...trial, ...change })).toMatchObject({ verdict, code });
  });
});
