import type { PlannedTask } from "@antiphon/contracts";
import type { RunState, TaskPhase } from "@antiphon/run";
import { planned } from "@antiphon/run/testing/record-log";
import { expect, test } from "vitest";
import { commitBehind, earlierTasks } from "./earlier-tasks.ts";

const BASE = "b".repeat(40);
const done = (left: string): TaskPhase =>
  ({ kind: "done", epoch: 2, commit: null, left: left.repeat(40) }) as TaskPhase;
const OPEN: TaskPhase = { kind: "open", epoch: 1 };
const runOf = (...tasks: readonly (readonly [PlannedTask, TaskPhase])[]): RunState =>
  ({ tasks: tasks.map(([one, phase]) => ({ planned: one, phase })) }) as unknown as RunState;
const back = (base_ref?: string): PlannedTask => {
  const one = planned("T-003", ["T-002"]);
  const git = { kind: "git", git_action: "git_reset" } as const;
  return { ...one, task: { ...one.task, ...git, ...(base_ref === undefined ? {} : { base_ref }) } };
};

test("a task is told of all that it depends on, directly or not, with the commit that each left", () => {
  const run = runOf(
    [planned("T-001"), done("1")],
    [planned("T-002", ["T-001"]), done("2")],
    [planned("T-004"), done("4")],
    [planned("T-003", ["T-002"]), OPEN],
  );
  expect(earlierTasks({ planned: planned("T-003", ["T-002"]) }, run)).toEqual([
    { task: "T-001", epoch: 2, kind: "edit_repo", commit: "1".repeat(40) },
    { task: "T-002", epoch: 2, kind: "edit_repo", commit: "2".repeat(40) },
  ]);
  expect(earlierTasks({ planned: planned("T-004") }, run)).toEqual([]);
});

test("a skill that judges is told nothing of the author's words", () => {
  const gate = { skill: "reviewer", of: "T-001", blocks: "error" } as const;
  const run = runOf([planned("T-001"), done("1")]);
  expect(earlierTasks({ planned: { ...planned("T-001-reviewer", ["T-001"]), gate } }, run)).toEqual([]);
});

test("a dispatch has room for the last 32 of a long chain", () => {
  const id = (i: number): string => `T-${String(i + 1).padStart(3, "0")}`;
  const chain = Array.from(
    { length: 40 },
    (_, i) => [planned(id(i), i === 0 ? [] : [id(i - 1)]), done("1")] as const,
  );
  const told = earlierTasks({ planned: planned("T-041", ["T-040"]) }, runOf(...chain));
  expect([told.length, told[0]?.task, told.at(-1)?.task]).toEqual([32, "T-009", "T-040"]);
});

test("a git task goes back to what the named task left, or to the commit that the run started from", () => {
  const run = runOf([planned("T-001"), done("1")], [planned("T-002", ["T-001"]), done("2")]);
  expect(commitBehind(back("T-001"), run, BASE)).toBe("1".repeat(40));
  expect(commitBehind(back("base"), run, BASE)).toBe(BASE);
  expect(commitBehind(planned("T-003"), run, BASE)).toBe(BASE);
  const open = runOf([planned("T-001"), OPEN]);
  expect(() => commitBehind(back("T-001"), open, BASE)).toThrow("which is not done");
});
