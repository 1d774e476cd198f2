/** The questions about what proves a run: one for all tasks without a check, and one for each criterion. Pure. */
import { UNVERIFIED, type CriteriaQuestion } from "@antiphon/contracts";
import type { TaskState } from "@antiphon/run";

export interface Lack {
  readonly task: TaskState;
  /** Absent: the task has no check. */
  readonly criterion?: string;
  /** Checks of the task that the repository names. */
  readonly found?: readonly string[];
  /** All checks of the task; one of them may decide the criterion. */
  readonly known?: readonly string[];
}

/** Further questions are asked when these are answered. */
const MAX_QUESTIONS = 64;
const MAX_NAMED = 5;
const MAX_SHOWN = 3;
const COMMAND_CHARS = 120;

/** `possible`: commands of the repository that may be checks. */
export function criteriaQuestions(
  lacks: readonly Lack[],
  tasksOfRun: number,
  possible: readonly string[],
): CriteriaQuestion[] {
  const groups = new Map<string, Lack[]>();
  for (const lack of lacks) groups.set(groupOf(lack), [...(groups.get(groupOf(lack)) ?? []), lack]);
  return [...groups.values()]
    .slice(0, MAX_QUESTIONS)
    .map((group) => questionAbout(group, tasksOfRun, possible));
}

/** Tasks that are asked about together keep the same checks: without those that were found, the answer alone would prove a task. */
function groupOf({ criterion, found = [] }: Lack): string {
  return JSON.stringify([criterion ?? null, found]);
}

function questionAbout(
  group: readonly Lack[],
  tasksOfRun: number,
  possible: readonly string[],
): CriteriaQuestion {
  const tasks = group.map(({ task }) => task.planned.task.task_id);
  const [{ criterion, found = [], known = [] } = {}] = group;
  const whose = tasksOfRun === 1 ? "the change" : named(tasks);
  const about =
    criterion === undefined
      ? `Which command proves ${whose}? No check was named and none was found.`
      : `Which command decides ${quoted(criterion)}? No check of ${whose} does.`;
  const shown = proposals([...known, ...possible]);
  const how = `Answer with a command${shown}, or with "${UNVERIFIED}" to take the change without proof.`;
  return {
    question: `${about} ${how}`,
    tasks,
    ...(criterion === undefined ? {} : { criterion }),
    ...(found.length === 0 ? {} : { found: [...found] }),
  };
}

function named(tasks: readonly string[]): string {
  const more = tasks.length - MAX_NAMED;
  return tasks.slice(0, MAX_NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

function proposals(commands: readonly string[]): string {
  const shown = [...new Set(commands)]
    .slice(0, MAX_SHOWN)
    .map((command) => `\`${cut(command, COMMAND_CHARS)}\``);
  return shown.length === 0 ? "" : `, perhaps ${shown.join(" or ")}`;
}

export function quoted(text: string): string {
  return JSON.stringify(cut(text, 160));
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 3)}...`.toWellFormed();
}
