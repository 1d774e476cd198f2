/**
 * The questions to a person whose run lacks a check, or a check that decides a criterion. The answer to each is a command, or the
 * word that takes the change without proof. Pure.
 */
import { Type } from "typebox";
import { limits } from "../limits.ts";
import { Command, MAX_COMMAND } from "../runs/command.ts";
import { TaskId } from "../shapes/ids.ts";
import { closed } from "../shapes/shape.ts";

/** The answer that allows what the option `allow_unverified` allows. */
export const UNVERIFIED = "unverified";

export const CriteriaQuestion = closed(
  {
    question: Type.String({ minLength: 1, maxLength: 2048 }),
    tasks: Type.Array(TaskId, {
      minItems: 1,
      maxItems: limits.tasksPerRun,
      description: "The tasks that get the answer as their check.",
    }),
    criterion: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2048,
        description: "The criterion that no check decides. Absent: the tasks have no check at all.",
      }),
    ),
    found: Type.Optional(
      Type.Array(Command, {
        maxItems: 64,
        description:
          "Only with a criterion: checks that the repository names, which the answer does not replace.",
      }),
    ),
  },
  { description: "What a person is asked before the first attempt, because nothing would prove the change." },
);
export type CriteriaQuestion = {
  question: string;
  tasks: string[];
  criterion?: string;
  found?: string[];
};

/** Reads the answers in the order of the questions; a single answer is for all of them. `no`: neither a check nor `unverified`. */
export type CriteriaAnswer =
  | { readonly kind: "check"; readonly command: string }
  | { readonly kind: "unverified" }
  | { readonly kind: "no" };

export function criteriaAnswers(questions: number, answers: readonly string[]): CriteriaAnswer[] {
  return Array.from({ length: questions }, (_, i) => answerOf(answers[i] ?? answers[0] ?? ""));
}

/** One command line. A shell would take several lines, but a check is shown and named in one. */
function answerOf(text: string): CriteriaAnswer {
  const command = text.trim();
  if (command.toLowerCase() === UNVERIFIED) return { kind: "unverified" };
  const isLine = command !== "" && command.length <= MAX_COMMAND && !/\p{Cc}/u.test(command);
  return isLine ? { kind: "check", command } : { kind: "no" };
}
