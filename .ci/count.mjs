// Reads vitest's JSON report and prints the slowest files and the closing line of `.ci/run`.
// Usage: count.mjs <report> <failed steps> [<report of the second try>]
// A file that could not be loaded, a skipped test and a failed step each count as one failure: CI is
// green only when everything ran and passed. A file of the second try counts by its second result, and each of its tests
// that failed first is named.
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

const [file = "", failedSteps = "", secondFile = ""] = process.argv.slice(2);
const readReport = (path) =>
  existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : { testResults: [] };
const report = readReport(file);
const secondTry = new Map(readReport(secondFile).testResults.map((result) => [result.name, result]));

const SLOWEST = 15;
/** Steps whose failure the failed tests explain. */
const TESTING = ["tests", "second-try"];

const seconds = ({ startTime, endTime }) => ((endTime ?? 0) - (startTime ?? 0)) / 1000;
const slowest = report.testResults
  .toSorted((a, b) => seconds(b) - seconds(a))
  .slice(0, SLOWEST)
  .filter((file) => seconds(file) >= 1);
for (const file of slowest)
  console.log(`${seconds(file).toFixed(0).padStart(5)} s  ${relative(process.cwd(), file.name)}`);

let passed = 0;
let failed = 0;
const fail = (text) => {
  failed += 1;
  console.log(`failed: ${text}`);
};

/** What failed at the first try, with the beginning of its message. */
function tellFirst({ name, message, assertionResults }) {
  const where = relative(process.cwd(), name);
  const tests = assertionResults.filter((test) => test.status === "failed");
  const say = (what, text) =>
    console.log(`failed at the first try: ${where}: ${what}: ${text.split("\n")[0]}`);
  for (const test of tests) say(test.fullName, test.failureMessages?.[0] ?? "no message");
  if (tests.length === 0) say("the file", message ?? "no message");
}

for (const first of report.testResults) {
  const second = secondTry.get(first.name);
  if (second !== undefined) tellFirst(first);
  const { name, status, message, assertionResults } = second ?? first;
  const where = relative(process.cwd(), name);
  if (status === "failed" && !assertionResults.some((test) => test.status === "failed"))
    fail(`${where}: ${(message ?? "could not be loaded").split("\n")[0]}`);
  for (const test of assertionResults) {
    if (test.status === "passed") passed += 1;
    else fail(`${where}: ${test.fullName}${test.status === "failed" ? "" : ` (${test.status}, not run)`}`);
  }
}
for (const step of failedSteps
  .split(" ")
  .filter((name) => name !== "" && !(TESTING.includes(name) && failed > 0)))
  fail(`the step ${step}`);
if (passed === 0 && failed === 0) fail("no test ran");

console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
