/** Which check decides an acceptance criterion. Pure. */
import { Type, type Static } from "typebox";
import type { Criterion } from "../runs/task-spec.ts";
import { closed, nullable } from "../shapes/shape.ts";

export const MappedCriterion = closed({
  criterion: Type.String({ minLength: 1, maxLength: 2048 }),
  check: nullable(Type.String({ minLength: 1 }), {
    description: "The command that decides it; null: none does.",
  }),
});
export type MappedCriterion = Static<typeof MappedCriterion>;

/** `checks`: the checks of the task, besides those that the criteria name themselves. */
export function mapCriteria(criteria: readonly Criterion[], checks: readonly string[]): MappedCriterion[] {
  const known = allChecks(criteria, checks);
  return criteria.map((one) => {
    if (typeof one !== "string") return { criterion: one.criterion, check: one.check };
    return { criterion: one, check: known.find((check) => quotes(one, check)) ?? null };
  });
}

/** The checks of a task and those that its criteria name, each once. */
export function allChecks(criteria: readonly Criterion[], checks: readonly string[]): string[] {
  return [
    ...new Set([...checks, ...criteria.flatMap((one) => (typeof one === "string" ? [] : [one.check]))]),
  ];
}

/** The criterion as one text that names its check, so that it is mapped again when the text comes back in. */
export function criterionText({ criterion, check }: MappedCriterion, maxLength: number): string {
  const text = check === null || quotes(criterion, check) ? criterion : `${criterion} (check: ${check})`;
  return text.length <= maxLength ? text : criterion.slice(0, maxLength);
}

const MOST_CRITERIA = 64;
const CRITERION_CHARS = 2048;

/** The criteria of a task that nobody gave any: that its checks pass. They demand nothing of a check but that. */
export function criteriaOfChecks(checks: readonly string[]): string[] {
  return checks.slice(0, MOST_CRITERIA).map((check) => `${check} passes`.slice(0, CRITERION_CHARS));
}

function quotes(text: string, check: string): boolean {
  const rest = text.trim();
  return rest === `${check} passes` || text.includes(`\`${check}\``) || text.includes(`(check: ${check})`);
}
