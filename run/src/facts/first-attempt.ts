/**
 * Whether an attempt is the first one of its task although it has a later number: the numbers before it are those of questions for a
 * check. The number stays, because evidence and commands name the attempt by it. Pure.
 */
import type { RunFacts } from "./run-facts.ts";

export function isFirstAfterQuestion(
  { tasks }: Pick<RunFacts, "tasks">,
  taskId: string,
  epoch: number,
): boolean {
  const attempts = tasks?.find(({ planned }) => planned.task.task_id === taskId)?.attempts ?? [];
  const before = attempts.filter((one) => one.epoch < epoch);
  return before.length > 0 && before.every(({ dispatched, criteria }) => !dispatched && criteria !== null);
}

/** `attempt 2`; of the first one after a question, with the reason for its number. */
export function attemptWords(facts: Pick<RunFacts, "tasks">, taskId: string | null, epoch: number): string {
  const isFirst = taskId !== null && isFirstAfterQuestion(facts, taskId, epoch);
  return isFirst ? `first attempt, number ${epoch} after the question` : `attempt ${epoch}`;
}
