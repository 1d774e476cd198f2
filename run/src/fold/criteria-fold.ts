/**
 * Folds a person's answers about what proves a run: a command becomes a check of the tasks that lack one, and stands in their
 * contracts like a check of the plan. An answer that is no command gives nothing, so the Director asks again. Pure.
 *
 * Promises:
 *   run/R12 Because nothing could land without a check, a run that lacks one starts no attempt before a person has given it or
 *     takes the change without proof; without an answer in time it ends with the code that it ends with when it does not ask.
 */
import { criteriaAnswers, criterionText, type CriteriaQuestion, type PlannedTask } from "@antiphon/contracts";
import type { RunState, TaskPhase } from "../state/run-state.ts";
import type { TaskRecord } from "./task-record.ts";

const CRITERION_CHARS = 2048;

/** `before`: the phase that the record was folded into. */
export function withCriteria(run: RunState, before: TaskPhase, record: TaskRecord): RunState {
  if (record.type !== "input" || before.kind !== "asking" || before.criteria === undefined) return run;
  const { event, choice, answers } = record.body;
  if (answers.length === 0 || (event === "approval" && choice !== "approve")) return run;
  const { asks } = before.criteria;
  const given = criteriaAnswers(asks.length, answers);
  return asks.reduce((now, asked, i) => {
    const answer = given[i];
    if (answer?.kind === "unverified") return { ...now, unverified: true };
    return answer?.kind === "check" ? withCheck(now, asked, answer.command) : now;
  }, run);
}

function withCheck(run: RunState, asked: CriteriaQuestion, command: string): RunState {
  const tasks = run.tasks.map((task) =>
    asked.tasks.includes(task.planned.task.task_id)
      ? { ...task, planned: checkedBy(task.planned, asked, command) }
      : task,
  );
  return { ...run, tasks };
}

function checkedBy(
  planned: PlannedTask,
  { criterion, found = [] }: CriteriaQuestion,
  command: string,
): PlannedTask {
  const { task, criteria = [] } = planned;
  const { commands: named } = task.verify_profile;
  const kept = named.length > 0 ? named : found;
  const decided = criteria.map((one) =>
    one.criterion === criterion && one.check === null ? { ...one, check: command } : one,
  );
  const texts = new Map(
    decided.map((one, i) => [
      criteria[i]?.criterion.slice(0, CRITERION_CHARS),
      criterionText(one, CRITERION_CHARS),
    ]),
  );
  return {
    ...planned,
    task: {
      ...task,
      acceptance_criteria: task.acceptance_criteria.map((text) => texts.get(text) ?? text),
      verify_profile: { ...task.verify_profile, commands: [...new Set([...kept, command])] },
    },
    ...(planned.criteria === undefined ? {} : { criteria: decided }),
  };
}
