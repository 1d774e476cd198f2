import { describe, expect, it, test } from "vitest";
import { missingNames, passedNames } from "./test-names.ts";
import { gapsIn, readTestReport } from "./test-report.ts";

const namesIn = (text: string): string[] => [...passedNames(text).keys()];

test.each([
  ["Node's spec", "  ✔ adds two numbers (1.234ms)", "adds two numbers"],
  ["TAP", "    ok 3 - adds two numbers", "adds two numbers"],
  ["Jest", "    ✓ adds two numbers (3 ms)", "adds two numbers"],
  ["Mocha", "    ✔ adds two numbers", "adds two numbers"],
  ["Vitest", " ✓ test/a.test.ts > adds two numbers 12ms", "test/a.test.ts > adds two numbers"],
  ["Go", "    --- PASS: TestAdd/two_numbers (0.00s)", "TestAdd"],
  ["Cargo", "test math::adds_two ... ok", "math::adds_two"],
  ["pytest", "test_a.py::test_add[two] PASSED      [ 50%]", "test_a.py::test_add"],
  ["unittest", "test_add (test_a.Sums) ... ok", "test_add (test_a.Sums)"],
  ["prove", "t/add.t .. ok", "t/add.t"],
  [".NET", "  Passed Sums.Add [3 ms]", "Sums.Add"],
  ["Gradle", "SumsTest > adds two numbers PASSED", "SumsTest > adds two numbers"],
])("the name of a test that passed is read from the output of %s", (_runner, line, name) => {
  expect(namesIn(`noise\n\u001b[32m${line}\u001b[39m\n`)).toEqual([name]);
});

test("tests that failed, were skipped or are to be done have not passed", () => {
  const lines = [
    "✖ adds (1ms)",
    "not ok 1 - adds",
    "ok 2 - adds # SKIP",
    "ok 3 - adds # TODO later",
    "--- FAIL: TestAdd (0.00s)",
    "--- SKIP: TestAdd (0.00s)",
    "test adds ... ignored",
    "test adds ... FAILED",
    "a.py::test_add SKIPPED",
    "test_add (a.Sums) ... skipped 'later'",
  ];
  expect(namesIn(lines.join("\n"))).toEqual([]);
});

describe("a runner that names the tests of a file only where one of them failed or was slow", () => {
  const broken = [
    " ❯ test/defu.test.ts (4 tests | 1 failed | 1 skipped) 12ms",
    "     ✓ copies only missing properties 3ms",
    "     × merges nested objects 5ms",
    "     ✓ keeps null",
    " ✓ test/utils.test.ts (2 tests) 2ms",
    "   ✓ waits for the clock  312ms",
    "      Tests  1 failed | 4 passed | 1 skipped (6)",
  ];
  const gaps = (lines: string[]) =>
    gapsIn(
      "vitest",
      { report: readTestReport(broken.join("\n")), isPassed: false },
      readTestReport(lines.join("\n")),
    );

  it("names them again by the count of the file", () => {
    expect(
      gaps([
        " ✓ test/defu.test.ts (4 tests | 1 skipped) 9ms",
        " ✓ test/utils.test.ts (2 tests) 2ms",
        "      Tests  5 passed | 1 skipped (6)",
      ]),
    ).toEqual([]);
  });

  it.each([
    ["fewer tests passed in the file", " ✓ test/defu.test.ts (4 tests | 3 skipped) 9ms"],
    ["another file counts them", " ✓ test/other.test.ts (4 tests | 1 skipped) 9ms"],
  ])("does not if %s", (_case, line) => {
    expect(gaps([line, " ✓ test/utils.test.ts (2 tests) 2ms", "      Tests  9 passed (9)"])).toEqual([
      expect.objectContaining({ kind: "fewer" }),
    ]);
  });
});

describe("names that the change's output lacks", () => {
  const missing = (base: string[], change: string[]): string[] => {
    const output = (names: string[]): string => names.map((name) => `ok 1 - ${name}`).join("\n");
    return missingNames(passedNames(output(base)), passedNames(output(change)));
  };

  it("are those of tests that did not pass again, each as often as it passed", () => {
    expect(missing(["adds", "parses"], ["parses", "is ready"])).toEqual(["adds"]);
    expect(missing(["adds", "adds"], ["adds", "is ready"])).toEqual(["adds"]);
  });

  it("are not those that differ in numbers", () => {
    expect(missing(["answers in 12 ms", "adds 1+2"], ["adds 3+4", "answers in 9 ms"])).toEqual([]);
  });

  it("include an identifier, however similar a new one is", () => {
    const names = (name: string) => passedNames(`test math::${name} ... ok`);
    expect(missingNames(names("adds_one_to_two"), names("adds_one_to_all"))).toEqual([
      "math::adds_one_to_two",
    ]);
  });

  it("have no similar one among very many", () => {
    const many = (word: string): string[] =>
      Array.from({ length: 200 }, (_, i) => `is ${word} ${"x".repeat(i)}`);
    expect(missing(many("old"), many("new"))).toHaveLength(200);
  });

  it("are not those that became similar ones, one for one", () => {
    expect(missing(["parses key name"], ["parses key title"])).toEqual([]);
    expect(missing(["parses key name", "parses key age"], ["parses key title"])).toEqual(["parses key age"]);
  });
});

test("a passing check that runs as many tests, but not those of the base, has a gap", () => {
  const report = (name: string, isWhole = true) =>
    readTestReport(`✔ ${name} (1ms)\nℹ pass 1\nℹ fail 0\n`, isWhole);
  const base = { report: report("adds"), isPassed: true };
  expect(gapsIn("npm test", base, report("is ready"))).toEqual([
    { kind: "fewer", what: 'npm test does not name the test "adds", which passes on the base' },
  ]);
  expect(gapsIn("npm test", base, report("adds"))).toEqual([]);
  expect(gapsIn("npm test", base, report("is ready", false))).toEqual([]);
});
