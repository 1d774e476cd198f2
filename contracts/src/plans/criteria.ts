/** Which check decides an acceptance criterion. Pure. */
import { Type, type Static } from "typebox";
import type { Criterion } from "../runs/task-spec.ts";
import { closed, nullable } from "../shapes/shape.ts";

export const MappedCriterion = closed({
  criterion: Type.String({ minLength: 1, maxLength: 2048 }),
  check: nullable(Type.String({ minLength: 1 }), {
    description: "The command that decides it; null: none does.",
  }),
  quoted: Type.Optional(
    Type.Literal(true, {
      description:
        "Its words quote the check, so the check may have passed before. Absent: it names the check as what decides it.",
    }),
  ),
});
export type MappedCriterion = Static<typeof MappedCriterion>;

/** `checks`: the checks of the task, besides those that the criteria name themselves. */
export function mapCriteria(criteria: readonly Criterion[], checks: readonly string[]): MappedCriterion[] {
  const known = allChecks(criteria, checks);
  return criteria.map((one) => {
    if (typeof one !== "string") return { criterion: one.criterion, check: one.check };
    const check =
      known.find((known) => names(one, known)) ?? known.find((known) => quotes(one, known)) ?? null;
    return {
      criterion: one,
      check,
      ...(check === null || names(one, check) ? {} : { quoted: true as const }),
    };
  });
}

/** The checks of a task and those that its criteria name, each once. */
export function allChecks(criteria: readonly Criterion[], checks: readonly string[]): string[] {
  return [
    ...new Set([...checks, ...criteria.flatMap((one) => (typeof one === "string" ? [] : [one.check]))]),
  ];
}

/**
 * The criterion as one text that names its check, so that it is mapped again when the text comes back in. A text that is too long
 * loses words and keeps its check, without which it would be a criterion that nothing decides; only a check that does not fit is lost.
 */
export function criterionText({ criterion, check, quoted }: MappedCriterion, maxLength: number): string {
  const whole = criterion.slice(0, maxLength);
  const isSaid = (text: string, check: string): boolean =>
    quoted === true ? quotes(text, check) : names(text, check);
  if (check === null || isSaid(whole, check)) return whole;
  const ending = quoted === true ? ` \`${check}\`` : ` (check: ${check})`;
  return ending.length >= maxLength ? whole : criterion.slice(0, maxLength - ending.length) + ending;
}

const MOST_CRITERIA = 64;
const CRITERION_CHARS = 2048;

/** The criteria of a task that nobody gave any: that its checks pass. They demand nothing of a check but that. */
export function criteriaOfChecks(checks: readonly string[]): string[] {
  return checks.slice(0, MOST_CRITERIA).map((check) => `${check} passes`.slice(0, CRITERION_CHARS));
}

/** Whether a criterion says nothing but that its check passes, as the criteria that nobody gave do. */
export function isOfCheckAlone({ criterion, check, quoted }: MappedCriterion): boolean {
  return check !== null && quoted === true && saysPasses(criterion, check);
}

function quotes(text: string, check: string): boolean {
  return saysPasses(text, check) || text.includes(`\`${check}\``) || names(text, check);
}

const names = (text: string, check: string): boolean => text.includes(`(check: ${check})`);

function saysPasses(text: string, check: string): boolean {
  const rest = text.trim().replace(/\.$/, "");
  return [check, `\`${check}\``].some((one) => rest === `${one} passes`);
}
