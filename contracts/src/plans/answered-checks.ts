/**
 * The options of a run that begins again after another one, with what people answered there about its proof: a command is a check of
 * the tasks that were asked about, as if the run had named it, and `unverified` is the option that the answer stood for. Pure.
 */
import { AntiphonError } from "../errors.ts";
import type { InputBody } from "../journal/side-input.ts";
import type { RunOptions } from "../runs/run-options.ts";
import type { TaskSpec } from "../runs/task-spec.ts";
import { allChecks, mapCriteria } from "./criteria.ts";
import { criteriaAnswers, type CriteriaQuestion } from "./criteria-question.ts";
import { taskIdOf } from "./task-number.ts";

/** Of a run and of a task, by their contracts. */
const MOST_CHECKS = 64;

/** The questions of a Director, and a person's answer to all of them. */
export interface AnsweredCriteria {
  readonly asks: readonly CriteriaQuestion[];
  readonly answer: Pick<InputBody, "event" | "choice" | "answers">;
}

type Proven = Pick<RunOptions, "checks" | "tasks" | "allow_unverified">;

/**
 * @throws AntiphonError ANT_INTENT_OPTIONS: with the answer, the run or a task has more checks than it may have. To leave the answer
 * out would prove less than what a person asked for.
 */
export function withAnsweredChecks<T extends Proven>(options: T, answered: readonly AnsweredCriteria[]): T {
  return answered.reduce((now, { asks, answer: { event, choice, answers } }) => {
    if (answers.length === 0 || (event === "approval" && choice !== "approve")) return now;
    const given = criteriaAnswers(asks.length, answers);
    return asks.reduce((so, asked, i) => {
      const answer = given[i];
      if (answer?.kind === "unverified") return { ...so, allow_unverified: true };
      return answer?.kind === "check" ? withCheck(so, asked, answer.command) : so;
    }, now);
  }, options);
}

function withCheck<T extends Proven>(options: T, asked: CriteriaQuestion, command: string): T {
  const { checks, tasks } = options;
  if (tasks === undefined || tasks.length === 0)
    return { ...options, checks: joined("/inputs/checks", checks, command) };
  return {
    ...options,
    tasks: tasks.map((task, i) =>
      asked.tasks.includes(taskIdOf(task.id))
        ? checkedBy(`/inputs/tasks/${i}/checks`, task, checks, asked, command)
        : task,
    ),
  };
}

function checkedBy(
  path: string,
  task: TaskSpec,
  ofRun: readonly string[],
  { criterion, found = [] }: CriteriaQuestion,
  command: string,
): TaskSpec {
  const { acceptance_criteria: criteria = [] } = task;
  const own = task.checks ?? ofRun;
  const named = allChecks(criteria, own);
  const mapped = mapCriteria(criteria, named);
  const decided = criteria.map((one, i) =>
    mapped[i]?.check === null && mapped[i].criterion === criterion ? { criterion, check: command } : one,
  );
  return {
    ...task,
    checks: joined(path, named.length > 0 ? own : found, command),
    ...(criteria.length === 0 ? {} : { acceptance_criteria: decided }),
  };
}

function joined(path: string, checks: readonly string[], command: string): string[] {
  const all = [...new Set([...checks, command])];
  if (all.length <= MOST_CHECKS) return all;
  const message = `${path}: with the answered check there are ${all.length}, and there may be ${MOST_CHECKS}; start a new run that names fewer`;
  throw new AntiphonError("ANT_INTENT_OPTIONS", message, { data: { path } });
}
