import { expect, test } from "vitest";
import { missingProgram, programOf } from "./check-program.ts";

test("a check's program is its first word, unless that is a path, an assignment or a compound", () => {
  const checks = ["npm test", "  pytest -q", "./check.sh", "A=1 make", "(cd x && make)", "'my tool'"];
  expect(checks.map(programOf)).toEqual(["npm", "pytest", null, null, null, null]);
});

test.each([
  ["pytest -q", 127, "sh: 1: pytest: not found\n", "pytest"],
  ["pytest -q", 127, "noise\nsh: line 1: pytest: command not found", "pytest"],
  ["pytest -q", 127, "sh: 1: other: not found", null],
  ["pytest -q", 1, "sh: 1: pytest: not found", null],
  ["pytest -q", null, "sh: 1: pytest: not found", null],
  ["npm test", 127, "sh: 1: vitest: not found", null],
  ["./new.sh", 127, "sh: 1: ./new.sh: not found", null],
  ["sh new.sh", 127, "sh: 0: cannot open new.sh: No such file", null],
  ["python3 -m pytest", 1, "/usr/bin/python3: No module named pytest\n", "pytest"],
  ["PYTHONPATH=src python -B -m pytest -q tests", 1, "python: No module named pytest", "pytest"],
  ["python3 -m pytest", 127, "sh: 1: python3: not found", "python3"],
  ["python3 -m pytest", 1, "ModuleNotFoundError: No module named 'pytest'", null],
  ["python3 -m pytest", 1, "/usr/bin/python3: No module named requests", null],
  ["python3 -m pytest", 1, "E  said\n/usr/bin/python3: No module named pytest", null],
  ["python3 -m pytest", 2, "/usr/bin/python3: No module named pytest", null],
  ["python3 -m our_checks", 1, "/usr/bin/python3: No module named our_checks", null],
  ["python3 run.py -m pytest", 1, "/usr/bin/python3: No module named pytest", null],
  ["cd x && pytest", 127, "sh: 1: pytest: not found", null],
])(
  "of `%s`, exit %s, the missing program is told only if it is its own: %s",
  (check, exit, said, expected) => {
    expect(missingProgram(check, exit, said)).toBe(expected);
  },
);
