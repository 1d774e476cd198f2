/**
 * The lines by which test runners report how many tests ran: a table, one row for each kind of line. Pure data.
 *
 * A row's `ran` and `failed` count the tests of its line. Skipped tests, and those that were expected to fail, do not count:
 * code under test can say so of any test. `opens` marks a line that announces a
 * report, and `ends` one that only a complete report has. Each expression begins with a fixed form and is used on one short
 * line, so its time is linear.
 */
export interface ReportForm {
  readonly runner: string;
  readonly line: RegExp;
  readonly ran?: (match: Groups) => number;
  readonly failed?: (match: Groups) => number;
  readonly opens?: true;
  readonly ends?: true;
}

/** The groups of a match: numbers, as text; and what is written in words ("2 passed, 1 failed"). */
export type Groups = Readonly<Record<string, string | undefined>>;

const n = (text: string | undefined): number => Number(text ?? "0");

/** Adds up the numbers before some words: "3 passed, 1 failed" with passed and failed is 4. */
function inWords(text: string | undefined, ...words: string[]): number {
  let sum = 0;
  for (const part of (text ?? "").split(/[,|]/)) {
    const [count = "", word = ""] = part.trim().split(" ");
    if (words.includes(word)) sum += Number(count);
  }
  return sum;
}

/** The number after a label: "Errors: 1, Skipped: 2". */
function labelled(text: string | undefined, label: string): number {
  const part = (text ?? "").split(",").find((one) => one.trim().startsWith(`${label}: `));
  return Number(part?.split(":")[1] ?? "0");
}

const words = (row: Groups): string | undefined => row["words"];
const ranInWords = (row: Groups): number => inWords(words(row), "passed", "failed", "xpassed");
const failedInWords = (row: Groups): number => inWords(words(row), "failed", "error", "errors");
const dotted = (row: Groups): number => n(row["run"]) - n(row["skipped"]);
const bad = (row: Groups): number => n(row["failed"]) + n(row["errors"]);

export const REPORT_FORMS: readonly ReportForm[] = [
  {
    runner: "pytest",
    line: /^(?:=+ )?(?<words>\d{1,9} (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)\b[\w ,]{0,200}|no tests ran) in \d[\d.]{0,12}s\b/,
    ran: ranInWords,
    failed: failedInWords,
    ends: true,
  },
  { runner: "unittest", line: /^Ran (?<run>\d{1,9}) tests? in \d[\d.]{0,12}s$/, ran: dotted, opens: true },
  {
    runner: "unittest",
    line: /^(?:OK|FAILED|NO TESTS RAN)(?: \((?:failures=(?<failed>\d{1,9}))?(?:, )?(?:errors=(?<errors>\d{1,9}))?(?:, )?(?:skipped=(?<skipped>\d{1,9}))?[\w ,=]{0,99}\))?$/,
    ran: (row) => -n(row["skipped"]),
    failed: bad,
    ends: true,
  },
  { runner: "node", line: /^(?:ℹ|#) pass {1,3}(?<run>\d{1,9})$/, ran: dotted, ends: true },
  { runner: "node", line: /^(?:ℹ|#) (?:fail|cancelled) {1,3}(?<failed>\d{1,9})$/, ran: bad, failed: bad },
  {
    runner: "jest",
    line: /^Tests: {1,9}(?<words>\d[\w ,]{0,99}), \d{1,9} total$/,
    ran: ranInWords,
    failed: failedInWords,
    ends: true,
  },
  {
    runner: "vitest",
    line: /^Tests {1,9}(?<words>\d[\w |]{0,99}) \(\d{1,9}\)$/,
    ran: ranInWords,
    failed: failedInWords,
    ends: true,
  },
  { runner: "mocha", line: /^(?<run>\d{1,9}) passing\b/, ran: dotted, ends: true },
  { runner: "mocha", line: /^(?<failed>\d{1,9}) failing$/, ran: bad, failed: bad },
  { runner: "ava", line: /^(?<run>\d{1,9}) tests? passed$/, ran: dotted, ends: true },
  { runner: "ava", line: /^(?<failed>\d{1,9}) tests? failed$/, ran: bad, failed: bad, ends: true },
  {
    runner: "go",
    line: /^ok\s{1,9}\S{1,200}\s{1,9}(?:\(cached\)|\d[\d.]{0,12}s)(?!.*\[no tests)/,
    ran: () => 1,
    ends: true,
  },
  { runner: "go", line: /^FAIL\t\S{1,200}\t/, ran: () => 1, failed: () => 1, ends: true },
  // A package that does not build is reported whether it has tests or not.
  { runner: "go", line: /^FAIL\t\S{1,200} \[/, failed: () => 1 },
  { runner: "cargo", line: /^running \d{1,9} tests?$/, opens: true },
  {
    runner: "cargo",
    line: /^test result: \w{1,9}\. (?<run>\d{1,9}) passed; (?<failed>\d{1,9}) failed;/,
    ran: (row) => n(row["run"]) + n(row["failed"]),
    failed: bad,
    ends: true,
  },
  {
    runner: "nextest",
    line: /^Summary \[[ \d.s]{1,20}\] {1,3}(?<run>\d{1,9}) tests? run: \d{1,9} passed(?:[ ,\w()]{0,80}?, (?<failed>\d{1,9}) failed)?/,
    ran: dotted,
    failed: bad,
    ends: true,
  },
  {
    runner: "surefire",
    line: /^(?:\[\w{1,9}\] {1,9})?Tests run: (?<run>\d{1,9}), Failures: (?<failed>\d{1,9}), Errors: (?<errors>\d{1,9}), Skipped: (?<skipped>\d{1,9})$/,
    ran: dotted,
    failed: bad,
    ends: true,
  },
  {
    runner: "rspec",
    line: /^(?<run>\d{1,9}) examples?, (?<failed>\d{1,9}) failures?(?:, (?<skipped>\d{1,9}) pending)?/,
    ran: dotted,
    failed: bad,
    ends: true,
  },
  {
    runner: "minitest",
    line: /^(?<run>\d{1,9}) (?:runs|tests), \d{1,9} assertions, (?<failed>\d{1,9}) failures, (?<errors>\d{1,9}) errors, (?<skipped>\d{1,9}) (?:skips|pendings)/,
    ran: dotted,
    failed: bad,
    ends: true,
  },
  {
    runner: "phpunit",
    line: /^OK \((?<run>\d{1,9}) tests?, \d{1,9} assertions?\)$/,
    ran: dotted,
    ends: true,
  },
  {
    runner: "phpunit",
    line: /^Tests: (?<run>\d{1,9}), Assertions: \d{1,9}(?<labels>[\w :,]{0,200})\.$/,
    ran: (row) => n(row["run"]) - labelled(row["labels"], "Skipped") - labelled(row["labels"], "Incomplete"),
    failed: (row) => labelled(row["labels"], "Errors") + labelled(row["labels"], "Failures"),
    ends: true,
  },
  { runner: "prove", line: /^Files=\d{1,9}, Tests=(?<run>\d{1,9}),/, ran: dotted, ends: true },
  {
    runner: "ctest",
    line: /^\d{1,3}% tests passed, (?<failed>\d{1,9}) tests? failed out of (?<run>\d{1,9})$/,
    ran: dotted,
    failed: bad,
    ends: true,
  },
  {
    runner: "dotnet",
    line: /^(?:Passed|Failed)! {1,9}- Failed: {1,9}(?<failed>\d{1,9}), Passed: {1,9}(?<run>\d{1,9}), Skipped:/,
    ran: (row) => n(row["run"]) + n(row["failed"]),
    failed: bad,
    ends: true,
  },
  {
    runner: "exunit",
    line: /^(?:\d{1,9} doctests?, )?(?<run>\d{1,9}) tests?, (?<failed>\d{1,9}) failures?(?:, \d{1,9} excluded)?(?:, (?<skipped>\d{1,9}) skipped)?$/,
    ran: dotted,
    failed: bad,
    ends: true,
  },
  { runner: "bun", line: /^Ran (?<run>\d{1,9}) tests? across \d{1,9} files?\b/, ran: dotted, ends: true },
  {
    runner: "deno",
    line: /^(?:ok|FAILED) \| (?<run>\d{1,9}) passed(?: \(\d{1,9} steps?\))? \| (?<failed>\d{1,9}) failed/,
    ran: (row) => n(row["run"]) + n(row["failed"]),
    failed: bad,
    ends: true,
  },
  {
    runner: "swift",
    line: /^Executed (?<run>\d{1,9}) tests?, with (?:(?<skipped>\d{1,9}) tests? skipped and )?(?<failed>\d{1,9}) failures?/,
    ran: dotted,
    failed: bad,
    ends: true,
  },
];
