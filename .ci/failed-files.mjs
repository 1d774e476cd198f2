// Prints the test files that failed, one a line, for the second try of `.ci/run`; nothing if there are too many for chance.
// Usage: failed-files.mjs <report>
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

/** So many files do not fail by chance: the first result stands. */
const MOST = 6;

const [file = ""] = process.argv.slice(2);
const { testResults } = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { testResults: [] };
const failed = testResults.filter(({ status }) => status === "failed");
if (failed.length <= MOST) for (const { name } of failed) console.log(relative(process.cwd(), name));
