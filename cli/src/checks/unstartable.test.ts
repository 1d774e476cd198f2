import type { CheckReport } from "@antiphon/contracts";
import { expect, test } from "vitest";
import { lacking, unstartable } from "./unstartable.ts";

const ended = (command: string, exitCode: number, tail: string) => ({
  ...{ command, exitCode, tail, timedOut: false, durationMs: 100 },
});
const report = (...checks: ReturnType<typeof ended>[]): CheckReport => ({ checks }) as unknown as CheckReport;

test("a module of Python that is missing is named, with the file that adds it", () => {
  const failure = unstartable(
    report(ended("true", 0, ""), ended("python3 -m pytest", 1, "/usr/bin/python3: No module named pytest\n")),
  );
  expect(failure).toMatchObject({
    code: "ANT_VERIFY_NO_PROGRAM",
    message: "the check `python3 -m pytest` needs pytest, which the sandbox lacks",
    remedy: expect.stringMatching(/^Commit a requirements\.txt that names pytest/) as string,
  });
});

test.each([
  ["go test ./...", "sh: 1: go: not found", "needs go, which the sandbox lacks"],
  ["npm test", "sh: 1: vitest: not found", "needs a program that the sandbox lacks"],
])("of `%s`, which ends with %j, the remedy says how to add a program", (command, tail, words) => {
  const failure = lacking(ended(command, 127, tail));
  expect(failure?.message).toContain(words);
  expect(failure?.remedy).toMatch(/images build --with .*antiphon\.yaml whose `setup` does/);
});

test("a check that started and failed lacks nothing", () => {
  const traceback = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'requests'\n";
  expect(lacking(ended("python3 -m pytest", 1, traceback))).toBeNull();
  expect(unstartable(report(ended("npm test", 1, "1 failed")))).toBeNull();
});

test("a file that cannot be executed is told with the command that mends it", () => {
  const failure = unstartable(report(ended("./test.sh", 126, "sh: 1: ./test.sh: Permission denied")));
  expect(failure?.remedy).toContain("git update-index --chmod=+x");
});
