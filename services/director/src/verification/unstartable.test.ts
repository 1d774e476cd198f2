import { check } from "@antiphon/run/testing/record-log";
import { expect, test } from "vitest";
import type { RoomOutcome } from "../ports.ts";
import { unstartable } from "./unstartable.ts";

const ended = (command: string, exitCode: number | null, tail: string) => ({
  ...check(exitCode),
  command,
  tail,
});
const lacks = (command: string) => ended(command, 127, `sh: 1: ${command.split(" ")[0]}: not found\n`);
const denied = (command: string) =>
  ended(command, 126, `sh: 1: ${command.split(" ")[0]}: Permission denied\n`);
const outcome = (...trials: RoomOutcome["trials"][number][]): RoomOutcome => ({ trials, written: null });

test("a check cannot start if every trial found no program of its name", () => {
  const fine = ended("true", 0, "");
  const again = { ...lacks("pytest -q"), tail: "" };
  expect(unstartable(outcome([fine, lacks("pytest -q")], [fine, again]), [])).toEqual({
    check: "pytest -q",
    why: "the clean room has no program pytest",
  });
});

test.each<[string, RoomOutcome]>([
  ["it started in one trial", outcome([lacks("pytest")], [ended("pytest", 1, "1 failed")])],
  ["another program was missing", outcome([ended("npm test", 127, "sh: 1: vitest: not found")])],
  ["it is a file that the change may bring", outcome([ended("./new.sh", 127, "sh: 1: ./new.sh: not found")])],
  ["it may not be executed, and a change may mend that", outcome([denied("./src/main")])],
  [
    "it started, and a program that it runs may not be executed",
    outcome([ended("./check.sh", 126, "./check.sh: 3: ./app: Permission denied\n")]),
  ],
  ["it failed", outcome([ended("pytest", 1, "pytest: not found")])],
  ["there was no trial", outcome()],
  [
    "the tree has an environment, whose setup the change may alter",
    { ...outcome([lacks("pytest")]), environment: {} as NonNullable<RoomOutcome["environment"]> },
  ],
])("a check may start where %s", (_, one) => {
  expect(unstartable(one, [])).toBeNull();
});

test("a file that judges and is not executable cannot start, unless a grant lets the change mend it", () => {
  const trials = outcome([denied("./check.sh --all")], [{ ...denied("./check.sh --all"), tail: "" }]);
  const found = unstartable(trials, []);
  expect(found?.check).toBe("./check.sh --all");
  expect(found?.why).toContain("git update-index --chmod=+x check.sh");
  expect(unstartable({ ...trials, environment: {} as NonNullable<RoomOutcome["environment"]> }, [])).toEqual(
    found,
  );
  expect(unstartable(trials, ["*.sh"])).toBeNull();
});

test.each(["sh: 1: ./check.sh: Permission denied", "bash: line 1: ./check.sh: Permission denied"])(
  "the words %j say so",
  (said) => expect(unstartable(outcome([ended("./check.sh", 126, `${said}\n`)]), [])).not.toBeNull(),
);
