/** The answer to a question, in the form that the one who waits for it in the container can use. */
import { limits, type DispatchBody } from "@antiphon/contracts";
import { PROMPT_BYTES, promptOf } from "../agents/prompt.ts";
import { plainQuestion, questionAs } from "../evidence/question.ts";
import { briefRoom } from "./attempt.ts";
import { briefJson } from "./brief.ts";
import { withinBytes } from "./byte-length.ts";
import { answerFor, leftIn } from "./going-on-script.ts";
import type { Asked, JobFacts } from "./running-job.ts";

export interface GoingOnWith {
  readonly dispatch: Pick<DispatchBody, "answers">;
  /** Of the attempt that goes on. */
  readonly epoch: number;
}

/** The question that a container asks; null: a program has ended and left what cannot be read as one. */
export function questionOf(said: string): Pick<Asked, "text" | "hasEnded"> | null {
  const left = leftIn(said);
  if (left === null) return { text: plainQuestion(said) ?? "(no question)", hasEnded: false };
  const text = questionAs(left.way, left.text);
  return text === null ? null : { text, hasEnded: true };
}

/** A program that waits is given the answer alone; one that has ended, what it is started again with. */
export function answerTo(
  { text: question, hasEnded }: Asked,
  answer: string,
  { before, work }: JobFacts,
  { dispatch: { answers }, epoch }: GoingOnWith,
): string {
  if (!hasEnded) return answer;
  const dispatch = { ...before.dispatch, answers };
  const brief = briefJson(dispatch, epoch, { maxBytes: briefRoom(1), ...before.told });
  const most = Math.min(PROMPT_BYTES, limits.answerChars - brief.length - 16);
  switch (work.goesOn?.told) {
    case undefined:
    case "brief":
      return answerFor(epoch, brief, brief);
    case "answer": {
      const said = `You asked: ${question}\nThe answer: ${answer}\n\nGo on with the task.`;
      return answerFor(epoch, brief, withinBytes(said, most));
    }
    case "prompt": {
      const prompt = promptOf(dispatch, epoch, { ...before.told, hasAsked: false, isInPlace: true });
      return answerFor(epoch, brief, withinBytes(prompt, most));
    }
  }
}
