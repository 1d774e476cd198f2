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

test("an answer is refused where it would be one check too many, unless it is there already", () => {
  const full = Array.from({ length: 64 }, (_, i) => `make ${i}`);
  const criteria = ["It is fast"];
  const asks = [{ ...WHICH, criterion: "It is fast" }];
  const of = (checks: string[], said: string, tasks?: TaskSpec[]) => () =>
    withAnsweredChecks({ ...run(tasks), checks }, [{ asks, answer: answer(said) }]);
  const refused = (path: string) =>
    expect.objectContaining({ code: "ANT_INTENT_OPTIONS", data: { path } }) as Error;
  expect(of(full, "make bench")).toThrow(refused("/inputs/checks"));
  expect(of(full.slice(1), "make bench")().checks).toHaveLength(64);
  expect(of(full, "make 3")().checks).toEqual(full);
  const own = [task({ checks: full, acceptance_criteria: criteria })];
  expect(of([], "make bench", own)).toThrow(refused("/inputs/tasks/0/checks"));
  expect(of([], "make 3", own)().tasks?.[0]?.checks).toEqual(full);
});
