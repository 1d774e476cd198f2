import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDate } from "../src/parse-date.js";

test("parses a calendar date", () => {
  assert.deepEqual(parseDate("2026-11-22"), { year: 2026, month: 11, day: 22 });
});

test("knows leap years", () => {
  assert.deepEqual(parseDate("2028-02-29"), { year: 2028, month: 2, day: 29 });
  assert.deepEqual(parseDate("2000-02-29"), { year: 2000, month: 2, day: 29 });
});

test("refuses days that do not exist", () => {
  for (const text of ["2026-02-29", "1900-02-29", "2026-04-31", "2026-13-01", "2026-00-10", "soon"]) {
    assert.throws(() => parseDate(text), RangeError);
  }
});
