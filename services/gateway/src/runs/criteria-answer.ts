// An answer to a run that asks what proves it. Pure.
import { AntiphonError, criteriaAnswers, meantCommand, type CriteriaQuestion } from "@antiphon/contracts";
import type { RunFacts } from "@antiphon/run";
import type { Answer, Approval } from "./side-event.ts";

/** What the Director asks for the step; null: an attempt asks. */
export function askedOfStep(
  facts: RunFacts,
  task: string,
  epoch: number,
): readonly CriteriaQuestion[] | null {
  const of = facts.tasks?.find(({ planned }) => planned.task.task_id === task);
  return of?.attempts.find((attempt) => attempt.epoch === epoch)?.criteria?.asks ?? null;
}

/**
 * Whether the answer takes the changes without proof, which needs the right that the option needs.
 * @throws AntiphonError ANT_ANSWER_NO_CHECK
 */
export function takesUnproven(asks: readonly CriteriaQuestion[], event: Answer | Approval): boolean {
  if (event.kind === "approval" && event.choice === "reject") return false;
  const { answers } = event;
  const count = asks.length === 1 ? "one question" : `${asks.length} questions`;
  const misfit = (why: string): AntiphonError =>
    new AntiphonError("ANT_ANSWER_NO_CHECK", `${why}; the run asks ${count}: ${asks[0]?.question ?? ""}`, {
      data: { questions: asks.map(({ question }) => question) },
    });
  if (event.kind === "approval" && event.choice === "changes")
    throw misfit("there is no change yet that could be changed");
  if (answers.length === 0) throw misfit("an approval names no check");
  if (answers.length !== 1 && answers.length !== asks.length)
    throw misfit(`${answers.length} answers do not fit`);
  const given = criteriaAnswers(asks.length, answers);
  const bad = given.findIndex(({ kind }) => kind === "no");
  if (bad !== -1)
    throw misfit(
      `${JSON.stringify((answers[bad] ?? answers[0] ?? "").slice(0, 80))} is not one command line`,
    );
  const slips = given.flatMap((one) => (one.kind === "check" ? mistyped(one.command) : []));
  if (slips[0] !== undefined) throw misfit(slips[0]);
  return given.some(({ kind }) => kind === "unverified");
}

/** Said before a sandbox looks for the program, because the run would end there. */
function mistyped(check: string): string[] {
  const meant = meantCommand(check);
  if (meant === null) return [];
  const quoted = (text: string): string => JSON.stringify(text.slice(0, 80));
  const own = `if there is such a program, answer ${quoted(`env ${check}`)}`;
  return [`no program of the name in ${quoted(check)} is known; did you mean ${quoted(meant)}? (${own})`];
}
