import { describe, expect, test } from "vitest";
import { judge, type Trial } from "./judge.ts";
import { check } from "@antiphon/run/testing/record-log";

const trial: Trial = {
  checks: [check(0)],
  again: null,
  base: null,
  unproven: [],
  readOnly: false,
  allowUnverified: false,
  allowUnproven: false,
};

const SUBJECT = { path: "src/a.js", why: "src/a.js is run by the check" };

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
      "a check that fails and then passes",
      { checks: [check(1)], again: [check(0)] },
      "FLAKY",
      "ANT_VERIFY_FLAKY",
    ],
    ["no check", { checks: [] }, "UNVERIFIABLE", "ANT_VERIFY_NO_CHECK"],
    ["no check, by grant", { checks: [], allowUnverified: true }, "PASS", "ANT_VERIFY_NO_CHECK"],
    ["no check on a task that only reads", { checks: [], readOnly: true }, "PASS", null],
    [
      "a check that passes without the change",
      { base: [check(0)] },
      "UNVERIFIABLE",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a check that passes without the change, by grant",
      { base: [check(0)], allowUnproven: true },
      "PASS",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    ["a check that failed without the change", { base: [check(1)] }, "PASS", null],
    ["a passing check", {}, "PASS", null],
    [
      "an edited source of a check that passes without the change too",
      { base: [check(0)], unproven: [SUBJECT], allowUnproven: true },
      "FAIL",
      "ANT_PATCH_PROTECTED",
    ],
    [
      "an edited source of a check that fails without the change",
      { base: [check(1)], unproven: [SUBJECT] },
      "PASS",
      null,
    ],
  ])("director/D5: the verdict on %s", (_name, change, verdict, code) => {
    expect(judge({ ...trial, ...change })).toMatchObject({ verdict, code });
  });

  test.each([
    ["fail-to-pass", { base: [check(1)] }],
    ["regression", {}],
    ["nothing", { base: [check(0)] }],
    ["nothing", { base: [check(0)], allowUnproven: true }],
    ["nothing", { checks: [] }],
    ["nothing", { checks: [check(1)], again: [check(1)] }],
  ])("says that a trial proves %s: %j", (proves, change) => {
    expect(judge({ ...trial, ...change }).proves).toBe(proves);
  });

  test("names the protected source that the proof opened, and why it was protected", () => {
    expect(judge({ ...trial, base: [check(1)], unproven: [SUBJECT] }).message).toContain(
      "src/a.js may change: src/a.js is run by the check",
    );
  });
});
