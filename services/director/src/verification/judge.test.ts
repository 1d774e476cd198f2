import { describe, expect, test } from "vitest";
import type { Demand } from "./demand.ts";
import { judge } from "./judge.ts";
import type { Trial } from "./trial.ts";
import { check } from "@antiphon/run/testing/record-log";

const DEMAND: Demand = {
  workflow: "nothing",
  caller: "nothing",
  policy: "nothing",
  ownTests: true,
  sources: true,
  allowUnproven: false,
  byPeople: false,
};
const FIX: Demand = { ...DEMAND, workflow: "fail-to-pass" };
const STEP: Demand = { ...DEMAND, caller: "fail-to-pass" };
const trial: Trial = {
  change: [[check(0)], [check(0)]],
  base: null,
  hollow: null,
  emptied: null,
  judges: [],
  withoutJudges: null,
  own: null,
  unreported: [],
  aware: [],
  tampering: [],
  sources: [],
  removes: false,
  unproven: [],
  demand: DEMAND,
  readOnly: false,
  delivered: null,
  undecided: [],
  allowUnverified: false,
};
const OWN: Trial["own"] = { tests: ["test/new.test.js"], onBase: [[check(0)]] };
/** The same check, once for each exit code. */
type Row = readonly [name: string, change: Partial<Trial>, verdict: string, code: string | null];
const runs = (...exits: number[]) => exits.map((exit) => [check(exit)]);

/** A new source that no test knows. */
const UNUSED: Partial<Trial> = { sources: ["src/b.js"], base: runs(0, 0), hollow: runs(0) };
const SUBJECT = { path: "src/a.js", why: "src/a.js is run by the check" };

test("a check that failed for lack of a network says so, and any other failure says nothing of one", () => {
  const failing = (tail: string) => judge({ ...trial, change: [[{ ...check(1), tail }]] }).message;
  expect(failing("getaddrinfo EAI_AGAIN a.example")).toContain("let the setup fetch what the check needs");
  expect(failing("1 != 2")).not.toContain("network");
});

describe("judge", () => {
  test.each<Row>([
    ["a failing check", { change: runs(1, 1) }, "FAIL", "ANT_VERIFY_CHECK_FAILED"],
    ["a check that timed out", { change: [[check(null, true)]] }, "FAIL", "ANT_VERIFY_CHECK_FAILED"],
    ["one bad check among good ones", { change: [[check(0), check(2)]] }, "FAIL", "ANT_VERIFY_CHECK_FAILED"],
    ["a check that fails and then passes", { change: runs(1, 0) }, "FLAKY", "ANT_VERIFY_FLAKY"],
    ["a check that passes and fails at last", { change: runs(0, 0, 0, 1) }, "FLAKY", "ANT_VERIFY_FLAKY"],
    [
      "checks that fail one at a time",
      {
        change: [
          [check(1), check(0)],
          [check(0), check(1)],
        ],
      },
      "FAIL",
      "ANT_VERIFY_CHECK_FAILED",
    ],
    ["no check", { change: [] }, "UNVERIFIABLE", "ANT_VERIFY_NO_CHECK"],
    ["no check, by grant", { change: [], allowUnverified: true }, "PASS", "ANT_VERIFY_NO_CHECK"],
    ["no check on a task that only reads", { change: [], readOnly: true }, "PASS", null],
    ["a passing check", {}, "PASS", null],
    ["a change whose code wrote to a test", { tampering: ["t was changed"] }, "FAIL", "ANT_VERIFY_TAMPERED"],
    ["a check whose runner reports nothing", { unreported: ["no report"] }, "FAIL", "ANT_VERIFY_UNREPORTED"],
    [
      "a check whose runner reports nothing, by grant",
      { unreported: ["no report"], allowUnverified: true },
      "PASS",
      "ANT_VERIFY_UNREPORTED",
    ],
    [
      "a check whose runner reports nothing, if people approve",
      { unreported: ["no report"], demand: { ...DEMAND, byPeople: true } },
      "PASS",
      "ANT_VERIFY_UNREPORTED",
    ],
    [
      "a fix whose check passes without it",
      { base: runs(0, 0), demand: FIX },
      "UNVERIFIABLE",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a fix whose check passes without it, by grant",
      { base: runs(0, 0), demand: { ...FIX, allowUnproven: true } },
      "PASS",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a fix whose check passes without it, if people approve",
      { base: runs(0, 0), demand: { ...FIX, byPeople: true } },
      "UNVERIFIABLE",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    ["a fix whose check fails without it", { base: runs(1, 1), demand: FIX }, "PASS", null],
    [
      "a fix whose check fails now and then without it",
      { base: runs(1, 0), demand: FIX },
      "FLAKY",
      "ANT_VERIFY_FLAKY",
    ],
    ["a change whose check passes without it", { base: runs(0, 0) }, "PASS", null],
    [
      "a change that proves less than the caller demands",
      { base: runs(0, 0), demand: { ...DEMAND, caller: "fail-to-pass" } },
      "UNVERIFIABLE",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a change that proves less than the policy demands, by grant",
      {
        base: runs(0, 0),
        hollow: runs(0),
        demand: { ...DEMAND, policy: "regression", allowUnproven: true },
      },
      "UNVERIFIABLE",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a step of a plan whose own check passes before it",
      { base: runs(0, 0), hollow: runs(1), demand: STEP },
      "UNVERIFIABLE",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a step of a plan whose own check passes before it, if people approve",
      { base: runs(0, 0), hollow: runs(1), demand: { ...STEP, byPeople: true } },
      "PASS",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a change that proves less than the policy demands, if people approve",
      { base: runs(0, 0), hollow: runs(0), demand: { ...DEMAND, policy: "regression", byPeople: true } },
      "PASS",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "an edited source of a check that passes without the change too",
      { base: runs(0, 0), unproven: [SUBJECT], demand: { ...FIX, allowUnproven: true } },
      "FAIL",
      "ANT_PATCH_PROTECTED",
    ],
    [
      "an edited source of a check that fails without the change",
      { base: runs(1, 1), unproven: [SUBJECT] },
      "PASS",
      null,
    ],
    [
      "a source that breaks the check, hidden by a file that the change adds beside the tests",
      { base: runs(0, 0), judges: ["test/shim.js"], withoutJudges: runs(1) },
      "FAIL",
      "ANT_VERIFY_MASKED",
    ],
    [
      "a fix that passes only with a file that it adds beside the tests",
      { base: runs(1, 1), judges: ["test/shim.js"], withoutJudges: runs(1), demand: FIX },
      "UNVERIFIABLE",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a fix that also passes without the file that it adds beside the tests",
      { base: runs(1, 1), judges: ["test/shim.js"], withoutJudges: runs(0), demand: FIX },
      "PASS",
      null,
    ],
    [
      "a change whose own test passes on the sources of the base",
      { base: runs(0, 0), hollow: runs(1), own: OWN },
      "UNVERIFIABLE",
      "ANT_VERIFY_OWN_TESTS",
    ],
    [
      "a change whose own test passes on the sources of the base, while the base itself was too slow",
      { own: OWN },
      "UNVERIFIABLE",
      "ANT_VERIFY_OWN_TESTS",
    ],
    [
      "a change whose own test passes on the sources of the base, by grant",
      { base: runs(0, 0), own: OWN, demand: { ...DEMAND, allowUnproven: true } },
      "PASS",
      "ANT_VERIFY_OWN_TESTS",
    ],
    [
      "a change whose own test passes on the sources of the base, if people approve",
      { base: runs(0, 0), own: OWN, demand: { ...DEMAND, byPeople: true } },
      "PASS",
      "ANT_VERIFY_OWN_TESTS",
    ],
    [
      "a change whose own test fails on the sources of the base",
      { base: runs(0, 0), hollow: runs(0), own: { ...OWN, onBase: runs(1) } },
      "PASS",
      null,
    ],
    [
      "a fix of a green base whose own test fails there",
      { base: runs(0, 0), own: { ...OWN, onBase: runs(1) }, demand: FIX },
      "UNVERIFIABLE",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a check that passes without any file",
      { base: runs(0, 0), hollow: runs(0), emptied: runs(0) },
      "UNVERIFIABLE",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a check that passes without any file, while the base itself was too slow",
      { emptied: runs(0) },
      "UNVERIFIABLE",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a check that passes without any file, by grant",
      { base: runs(0, 0), hollow: runs(0), emptied: runs(0), demand: { ...DEMAND, allowUnproven: true } },
      "PASS",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a check that passes without any file, where none would do",
      { base: runs(0, 0), hollow: runs(0), emptied: runs(0), allowUnverified: true },
      "PASS",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a check that passes without any file, if people approve",
      { base: runs(0, 0), hollow: runs(0), emptied: runs(0), demand: { ...DEMAND, byPeople: true } },
      "PASS",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a check that passes without any file, below what the policy demands, where none would do",
      {
        ...{ base: runs(0, 0), hollow: runs(0), emptied: runs(0), allowUnverified: true },
        demand: { ...DEMAND, policy: "regression" },
      },
      "UNVERIFIABLE",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    [
      "a check that needs files, but none of the change",
      { base: runs(0, 0), hollow: runs(0), emptied: runs(1) },
      "PASS",
      null,
    ],
    [
      "a check in a workspace that could not be emptied",
      { base: runs(0, 0), hollow: runs(0), emptied: [] },
      "PASS",
      null,
    ],
    [
      "a source that no check uses, and a check that needs no file",
      { ...UNUSED, emptied: runs(0) },
      "UNVERIFIABLE",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    ["a source that no check uses", UNUSED, "UNVERIFIABLE", "ANT_VERIFY_UNTESTED"],
    [
      "a source that no check uses, if people approve",
      { ...UNUSED, demand: { ...DEMAND, byPeople: true } },
      "PASS",
      "ANT_VERIFY_UNTESTED",
    ],
    [
      "a source that no check uses, by grant",
      { ...UNUSED, demand: { ...DEMAND, allowUnproven: true } },
      "PASS",
      "ANT_VERIFY_UNTESTED",
    ],
    [
      "a source that no check uses, where no check at all would do",
      { ...UNUSED, allowUnverified: true },
      "PASS",
      "ANT_VERIFY_UNTESTED",
    ],
    [
      "a source that no check uses, where the policy demands nothing",
      { ...UNUSED, demand: { ...DEMAND, sources: false } },
      "PASS",
      null,
    ],
    [
      "a source that no check uses, where a regression is demanded",
      { ...UNUSED, demand: { ...DEMAND, caller: "regression" } },
      "UNVERIFIABLE",
      "ANT_VERIFY_UNTESTED",
    ],
    [
      "a source that no check uses, where the policy demands a regression, by grant",
      { ...UNUSED, demand: { ...DEMAND, policy: "regression", allowUnproven: true } },
      "UNVERIFIABLE",
      "ANT_VERIFY_UNTESTED",
    ],
    [
      "a fix of a source that no check uses",
      { ...UNUSED, demand: FIX },
      "UNVERIFIABLE",
      "ANT_VERIFY_PROVES_NOTHING",
    ],
    ["a source that the check uses", { ...UNUSED, hollow: runs(1) }, "PASS", null],
    ["a new source with a test that needs it", { ...UNUSED, own: { ...OWN, onBase: runs(1) } }, "PASS", null],
    [
      "a new source with a test that does not need it",
      { ...UNUSED, own: OWN },
      "UNVERIFIABLE",
      "ANT_VERIFY_OWN_TESTS",
    ],
    [
      "a new source with a test that does not need it, after a task that changed sources",
      { ...UNUSED, own: OWN, demand: { ...DEMAND, ownTests: false } },
      "UNVERIFIABLE",
      "ANT_VERIFY_UNTESTED",
    ],
    ["a change that only removes sources", { base: runs(0, 0), removes: true }, "PASS", null],
    [
      "a change of tests alone",
      { base: runs(0, 0), hollow: runs(0), own: { ...OWN, onBase: null } },
      "PASS",
      null,
    ],
  ])("director/D5: the verdict on %s", (_name, change, verdict, code) => {
    expect(judge({ ...trial, ...change })).toMatchObject({ verdict, code });
  });

  test.each([
    ["fail-to-pass", { base: runs(1, 1) }],
    ["regression", {}],
    ["regression", { base: runs(0, 0), hollow: runs(1) }],
    ["nothing", { base: runs(0, 0), hollow: runs(0) }],
    ["nothing", { base: runs(0, 0), hollow: runs(0), emptied: runs(0) }],
    ["nothing", { emptied: runs(0) }],
    ["regression", { emptied: runs(1) }],
    ["nothing", { base: runs(1, 1), judges: ["test/shim.js"], withoutJudges: runs(1) }],
    ["regression", { base: runs(0, 0), hollow: runs(0), own: { ...OWN, onBase: runs(1) } }],
    ["nothing", { base: runs(0, 0), hollow: runs(0), own: { ...OWN, onBase: null } }],
    ["nothing", UNUSED],
    ["regression", { base: runs(0, 0), removes: true }],
    ["nothing", { base: runs(0, 0), removes: true, emptied: runs(0) }],
    ["nothing", { change: [] }],
    ["nothing", { change: runs(1, 1) }],
  ])("says that a trial proves %s: %j", (proves, change) => {
    expect(judge({ ...trial, ...change }).proves).toBe(proves);
  });

  test("says what the tests of a change prove, and which tests they are", () => {
    const message = (own: Trial["own"]): string => judge({ ...trial, base: runs(0, 0), own }).message;
    const tests = "the change's own test/new.test.js";
    expect(message(OWN)).toContain(`with ${tests} it passes on the sources of the base, too`);
    expect(message({ ...OWN, onBase: runs(1) })).toContain(
      `with ${tests} it fails on the sources of the base`,
    );
    expect(message({ ...OWN, onBase: null })).toContain(
      "the change brings tests alone (test/new.test.js), which describe what is there and prove no change",
    );
  });

  test("names a check that does not depend on the change, and what is demanded", () => {
    const message = (more: Partial<Trial>): string =>
      judge({ ...trial, base: runs(0, 0), hollow: runs(0), ...more }).message;
    expect(message({ emptied: runs(1) })).toContain(
      "npm test passes in 2 of 2 trials; it also passes without the files of the change: it does not depend on the change, so it proves nothing about it; --require-proof regression, or requireProof in the policy, demands a check that does",
    );
    const strict = { ...DEMAND, caller: "regression" as const };
    expect(message({ emptied: runs(1), demand: strict })).toMatch(/; regression is demanded$/);
    expect(message({ emptied: runs(0) })).toMatch(
      /without any file: it does not depend on the change, .*; a check that reads the files is demanded$/,
    );
  });

  test("names the sources that no check uses, and asks for a test that does", () => {
    const { message } = judge({ ...trial, ...UNUSED, sources: ["src/b.js", "src/c.js"] });
    expect(message).toMatch(
      /it proves nothing about it; nothing that it runs uses src\/b\.js, src\/c\.js: add a test that does$/,
    );
  });

  test("names the protected source that the proof opened, and why it was protected", () => {
    expect(judge({ ...trial, base: runs(1, 1), unproven: [SUBJECT] }).message).toContain(
      "src/a.js may change: src/a.js is run by the check",
    );
  });

  test.each<Row>([
    ["with nothing that lets it land", {}, "UNVERIFIABLE", "ANT_VERIFY_CRITERION"],
    ["and people who approve", { demand: { ...DEMAND, byPeople: true } }, "PASS", "ANT_VERIFY_CRITERION"],
    ["and a grant", { allowUnverified: true }, "PASS", "ANT_VERIFY_CRITERION"],
    ["and a check that fails", { change: runs(1, 1) }, "FAIL", "ANT_VERIFY_CHECK_FAILED"],
  ])("a criterion that no check decides, %s", (_name, change, verdict, code) => {
    const judgement = judge({ ...trial, undecided: ["It looks good"], ...change });
    expect(judgement).toMatchObject({ verdict, code });
    if (code === "ANT_VERIFY_CRITERION")
      expect(judgement.message).toContain('no check decides "It looks good"');
  });

  test.each<Row>([
    ["nobody to see it", {}, "UNVERIFIABLE", "ANT_VERIFY_TEST_AWARE"],
    ["people who decide", { demand: { ...DEMAND, byPeople: true } }, "PASS", "ANT_VERIFY_TEST_AWARE"],
    ["a grant", { allowUnverified: true }, "PASS", "ANT_VERIFY_TEST_AWARE"],
    ["a check that fails", { change: runs(1, 1) }, "FAIL", "ANT_VERIFY_CHECK_FAILED"],
  ])("a source that knows it is tested, with %s", (_name, change, verdict, code) => {
    const aware = ["src/a.js asks for a variable that a test runner sets"];
    const judgement = judge({ ...trial, aware, base: runs(1, 1), ...change });
    expect(judgement).toMatchObject({ verdict, code, proves: "nothing" });
    if (code === "ANT_VERIFY_TEST_AWARE") expect(judgement.message).toContain(aware[0]);
  });

  test("a plan or a review is no worse for a red check, which is named", () => {
    const judgement = judge({ ...trial, delivered: "3 findings", readOnly: true, change: runs(1) });
    expect(judgement).toMatchObject({ verdict: "PASS", code: null, proves: "nothing" });
    expect(judgement.message).toMatch(/^3 findings; .* exited 1 on the tree, which decides nothing here$/);
    expect(judge({ ...trial, delivered: "no findings", change: [] }).message).toBe("no findings");
  });
});
