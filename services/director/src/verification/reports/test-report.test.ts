import { describe, expect, it, test } from "vitest";
import { gapsIn, hasReport, readTestReport } from "./test-report.ts";

/** Output -> the runner, the tests that ran, and those of them that failed. */
const SAMPLES: readonly (readonly [output: string, runner: string, ran: number, failed: number])[] = [
  ["========= 1 failed, 1 passed, 1 skipped, 1 xfailed in 0.15s =========", "pytest", 2, 1],
  ["1 failed, 3 passed, 2 deselected, 1 warning in 0.06s", "pytest", 4, 1],
  ["\u001b[32m\u001b[1m2 passed\u001b[0m\u001b[32m in 62.06s (0:01:02)\u001b[0m", "pytest", 2, 0],
  ["=========== 1 error in 0.10s ============", "pytest", 0, 1],
  ["no tests ran in 0.01s", "pytest", 0, 0],
  ["Ran 3 tests in 0.001s\n\nOK (skipped=1, expected failures=1)", "unittest", 2, 0],
  ["Ran 5 tests in 1.201s\n\nFAILED (failures=1, errors=2, skipped=1)", "unittest", 4, 3],
  ["Ran 1 test in 0.000s\n\nOK", "unittest", 1, 0],
  ["# tests 4\n# suites 0\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 1", "node", 3, 1],
  ["ℹ tests 2\nℹ pass 2\nℹ fail 0\nℹ cancelled 0", "node", 2, 0],
  ["1..2\n# tests 2\n# pass  1\n# fail  1", "node", 2, 1],
  ["Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 4 passed, 5 total", "jest", 5, 1],
  [" Test Files  1 passed (1)\n      Tests  1 failed | 3 passed | 1 skipped (5)", "vitest", 4, 1],
  ["  5 passing (10ms)\n  2 pending\n  1 failing", "mocha", 6, 1],
  ["  1 test failed\n  4 tests passed", "ava", 5, 1],
  ["ok  \tx/a\t0.003s\nFAIL\tx/b\t0.002s\nok  \tx/c\t(cached)\n?   \tx/d\t[no test files]\nFAIL", "go", 3, 1],
  ["running 2 tests\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured;", "cargo", 2, 1],
  ["     Summary [   0.016s] 3 tests run: 2 passed, 1 failed, 0 skipped", "nextest", 3, 1],
  [
    "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in ATest\n[ERROR] Tests run: 4, Failures: 1, Errors: 1, Skipped: 1",
    "surefire",
    3,
    2,
  ],
  ["5 examples, 1 failure, 1 pending", "rspec", 4, 1],
  ["5 runs, 9 assertions, 1 failures, 1 errors, 2 skips", "minitest", 3, 2],
  ["OK (5 tests, 7 assertions)", "phpunit", 5, 0],
  ["Tests: 5, Assertions: 7, Errors: 1, Failures: 2, Skipped: 1.", "phpunit", 4, 3],
  ["Tests: 3, Assertions: 2, Warnings: 1, Skipped: 1.", "phpunit", 2, 0],
  ["Files=2, Tests=7,  0 wallclock secs ( 0.02 usr  0.00 sys)\nResult: PASS", "prove", 7, 0],
  ["67% tests passed, 1 tests failed out of 3", "ctest", 3, 1],
  ["Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5, Duration: 2 ms", "dotnet", 5, 1],
  ["1 doctest, 4 tests, 1 failure, 1 skipped", "exunit", 3, 1],
  [" 4 pass\n 0 fail\nRan 4 tests across 2 files. [10.00ms]", "bun", 4, 0],
  ["ok | 3 passed (2 steps) | 0 failed (5ms)", "deno", 3, 0],
  ["Executed 3 tests, with 1 failure (0 unexpected) in 0.002 (0.003) seconds", "swift", 3, 1],
];

describe("the report of a test runner", () => {
  test.each(SAMPLES)("%j is of %s", (output, runner, ran, failed) => {
    const report = readTestReport(`compiling 12 files\n${output}\n`);
    expect([...report.runners.keys()]).toEqual([runner]);
    expect(report.runners.get(runner)).toMatchObject({ ran, failed });
    expect(hasReport(report)).toBe(true);
  });

  it("is not seen in other output", () => {
    const output = ["OK", "FAILED", "12 files checked", "ran 5 tests", "Tests are fine", "3 passes in 4s"];
    expect(readTestReport(output.join("\n")).runners.size).toBe(0);
  });

  it("of several suites is their sum", () => {
    const output = "Tests  2 passed (2)\n...\nTests  3 passed (3)\n";
    expect(readTestReport(output).runners.get("vitest")).toMatchObject({ ran: 5, ended: 2 });
  });
});

describe("the report of a passing check", () => {
  const gaps = (base: string, change: string, { base: b = true, change: c = true, isPassed = true } = {}) =>
    gapsIn("npm test", { report: readTestReport(base, b), isPassed }, readTestReport(change, c)).map(
      ({ kind }) => kind,
    );
  const GREEN = "3 passed in 0.02s";

  it.each(SAMPLES)("lacks nothing if it is that of the base: %j", (output) => {
    expect(gaps(output, output)).toEqual([]);
  });

  it.each(SAMPLES)("is missed where the base has one: %j", (output) => {
    expect(gaps(output, "collecting ...\n")).toEqual(["missing"]);
  });

  it("may count more tests, or come from a runner that the base does not reach", () => {
    expect(gaps("1 error in 0.01s", GREEN)).toEqual([]);
    expect(gaps("compile error", GREEN)).toEqual([]);
  });

  it("may not count fewer tests, skipped ones left out", () => {
    expect(gaps(GREEN, "2 passed in 0.01s")).toEqual(["fewer"]);
    expect(gaps(GREEN, "2 passed, 1 skipped in 0.01s")).toEqual(["fewer"]);
    expect(gaps("1 failed, 2 passed in 0.01s", "2 passed in 0.01s")).toEqual(["fewer"]);
  });

  it("is not counted where output was not kept, but has to be there", () => {
    expect(gaps(GREEN, "2 passed in 0.01s", { change: false })).toEqual([]);
    expect(gaps(GREEN, "2 passed in 0.01s", { base: false })).toEqual([]);
    expect(gaps(GREEN, "", { change: false })).toEqual(["missing"]);
  });

  it("may not count failures, except those that the base ignores", () => {
    const red = "1 failed, 2 passed in 0.01s";
    expect(gaps(red, red, { isPassed: false })).toEqual(["failed"]);
    expect(gaps(GREEN, red)).toEqual(["failed"]);
    expect(gaps(red, red, { isPassed: true })).toEqual([]);
    expect(gaps("3 failed in 0.01s", red, { isPassed: false })).toEqual([]);
  });

  it("does not count packages of Go that do not build on the base, because they may have no tests", () => {
    const broken = "FAIL\tx/a [build failed]\nFAIL\tx/cmd [build failed]\nFAIL";
    expect(gaps(broken, "ok  \tx/a\t0.003s\n?   \tx/cmd\t[no test files]", { isPassed: false })).toEqual([]);
    expect(
      gaps(broken, "?   \tx/a\t[no test files]\n?   \tx/cmd\t[no test files]", { isPassed: false }),
    ).toEqual([]);
    expect(gaps(`${broken}\nok  \tx/b\t0.003s`, "ok  \tx/a\t0.003s", { isPassed: false })).toEqual([]);
    expect(gaps(`ok  \tx/b\t0.003s`, "?   \tx/b\t[no test files]")).toEqual(["missing"]);
  });

  it("has to have an end if it has a beginning, whatever the base says", () => {
    const cut = readTestReport("running 2 tests\n");
    expect(gapsIn("cargo test", null, cut).map(({ kind }) => kind)).toEqual(["missing"]);
    expect(gapsIn("npm test", null, readTestReport("done\n"))).toEqual([]);
  });

  it("counts a file of Node that ended before its tests as what it is", () => {
    const base = "ok 1 - adds\nok 2 - /workspace/b.test.js\n# pass 2\n# fail 0";
    const ended = "ok 1 - /workspace/a.test.js\nok 2 - /workspace/b.test.js\n# pass 2\n# fail 0";
    const [gap, ...more] = gapsIn(
      "npm test",
      { report: readTestReport(base), isPassed: true },
      readTestReport(ended),
    );
    expect(more).toEqual([]);
    expect(gap?.what).toBe("workspace/a.test.js ended before it ran the tests that it has on the base");
    expect(gaps(base, base)).toEqual([]);
  });
});
