// Reads vitest's JSON report and prints the slowest files and the closing line of `.ci/run`.
// Usage: count.mjs <report> <failed steps>
// A file that could not be loaded, a skipped test and a failed step each count as one failure: CI is
// green only when everything ran and passed.
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

const [file = "", failedSteps = ""] = process.argv.slice(2);
const report = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { testResults: [] };

const SLOWEST = 15;

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

for (const { name, status, message, assertionResults } of report.testResults) {
  const where = relative(process.cwd(), name);
  if (status === "failed" && !assertionResults.some((test) => test.status === "failed"))
    fail(`${where}: ${(message ?? "could not be loaded").split("\n")[0]}`);
  for (const test of assertionResults) {
    if (test.status === "passed") passed += 1;
    else fail(`${where}: ${test.fullName}${test.status === "failed" ? "" : ` (${test.status}, not run)`}`);
  }
}
for (const step of failedSteps.split(" ").filter((name) => name !== "" && !(name === "tests" && failed > 0)))
  fail(`the step ${step}`);
if (passed === 0 && failed === 0) fail("no test ran");

console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
