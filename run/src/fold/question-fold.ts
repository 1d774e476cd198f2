/** Folds what ends a task's question: a person's answer, or the time without one. */
import type { RunPolicy, TaskState } from "../state/run-state.ts";
import { changesAskedBy, rejectedBy } from "./approval-fold.ts";
import type { RecordOf } from "./task-record.ts";
import { failed, nextAttempt, reject, to, type PhaseOf, type TaskStep } from "./task-step.ts";

type Asking = PhaseOf<"asking">;

export function afterInput(
  task: TaskState,
  { epoch, criteria, questions }: Asking,
  { body, at }: RecordOf<"input">,
  policy: RunPolicy,
): TaskStep {
  if (body.event === "approval" && body.choice === "reject") return to(task, rejectedBy(epoch, at, body));
  if (body.event === "approval" && body.choice === "changes")
    return reject(task, policy, changesAskedBy(epoch, body));
  // The check goes to all tasks that lack one (criteria-fold.ts). The agent did not ask, so it is not told.
  if (criteria !== undefined) return to(task, nextAttempt(epoch));
  const given = body.answers.length > 0 ? body.answers : [body.choice ?? body.event];
  const answers = questions.map((question, i) => ({ question, answer: given[i] ?? given[0] ?? "" }));
  return to({ ...task, answers: [...task.answers, ...answers] }, nextAttempt(epoch));
}

export function afterSilence(task: TaskState, { epoch, criteria, questions }: Asking): TaskStep {
  if (criteria !== undefined)
    return to(task, failed(epoch, criteria.code, `${criteria.message}; nobody answered in time`));
  const asked = questions.join("; ");
  return to(task, failed(epoch, "ANT_TASK_UNANSWERED", `nobody answered in time: ${asked}`));
}
