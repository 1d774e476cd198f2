import { expect, test } from "vitest";
import { read } from "./reading.ts";
import { kindRunsOf } from "./word-kinds.ts";

const runsOf = (text: string): string[] => kindRunsOf(read(text).tokens);

test("two titles without a common word are built alike", () => {
  expect(runsOf("Total ignores vouchers")).toEqual(runsOf("Caret skips blanks"));
  expect(runsOf("Total ignores vouchers")).toContain("^ N VS NS");
});

test("a verb's form says whether something is asked for or told", () => {
  expect(runsOf("Add vouchers")).toContain("^ V NS");
  expect(runsOf("Filter adds rows")).toContain("V VS NS $");
  expect(runsOf("Rows dropped twice")).toContain("NS VD twice $");
  expect(runsOf("Copying stopped")).toContain("^ VG VD $");
});

test("a name of many words counts as one", () => {
  expect(runsOf("tax voucher engine is wrong")).toContain("^ N is BAD");
});

test("only the beginning of a long request is looked at", () => {
  const long = `${"so ".repeat(24)}add filters`;
  expect(runsOf(long).some((run) => /V|\$/.test(run))).toBe(false);
});
