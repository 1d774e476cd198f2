import { expect, test } from "vitest";
import type { TaskSpec } from "../runs/task-spec.ts";
import { withAnsweredChecks } from "./answered-checks.ts";

const WHICH = { question: "Which?", tasks: ["T-001"] };
const run = (tasks?: TaskSpec[]) => ({
  ...{ checks: [] as string[], allow_unverified: false, goal: "kept" },
  ...(tasks === undefined ? {} : { tasks }),
});
const task = (more: Partial<TaskSpec> = {}): TaskSpec => ({
  ...{ id: 1, description: "a", dependencies: [] },
  ...more,
});
const answer = (...answers: string[]) => ({ event: "answer", answers });

test("what is no answer to the question changes nothing", () => {
  for (const said of [
    answer(),
    answer("two\nlines"),
    { event: "approval", choice: "reject", answers: ["make test"] },
    { event: "approval", choice: "changes", answers: ["make test"] },
  ])
    expect(withAnsweredChecks(run(), [{ asks: [WHICH], answer: said }])).toEqual(run());
});

test("unverified is the option, which needs its right when the new run is taken in", () => {
  const asked = [{ asks: [WHICH], answer: answer(" Unverified ") }];
  expect(withAnsweredChecks(run(), asked)).toEqual({ ...run(), allow_unverified: true });
});

test("a command is a check of the run that names no tasks, else of the tasks that were asked about", () => {
  const asked = [{ asks: [WHICH], answer: answer("make test") }];
  expect(withAnsweredChecks(run(), asked)).toEqual({ ...run(), checks: ["make test"] });
  const tasks = [task(), task({ id: 2 })];
  expect(withAnsweredChecks(run(tasks), asked).tasks).toEqual([
    { ...task(), checks: ["make test"] },
    tasks[1],
  ]);
});

test("a command decides the criterion that was asked about, beside the checks that the task has or the repository names", () => {
  const about = (more: object = {}) => [
    { asks: [{ ...WHICH, criterion: "It is fast", ...more }], answer: answer("make bench") },
  ];
  const criteria = ["It is fast", "npm test passes"];
  const own = run([task({ checks: ["npm test"], acceptance_criteria: criteria })]);
  const decided = { criterion: "It is fast", check: "make bench" };
  expect(withAnsweredChecks(own, about()).tasks).toEqual([
    task({ checks: ["npm test", "make bench"], acceptance_criteria: [decided, "npm test passes"] }),
  ]);
  const found = run([task({ acceptance_criteria: ["It is fast"] })]);
  expect(withAnsweredChecks(found, about({ found: ["npm test"] })).tasks).toEqual([
    task({ checks: ["npm test", "make bench"], acceptance_criteria: [decided] }),
  ]);
});
