/**
 * The workflow that a goal names outright: a command in front, a line that says so, or a short request whose verb is the
 * name. Nothing else is certain.
 */
import type { Workflow } from "@antiphon/contracts";

const COMMAND = /^\s{0,20}\/(build|debug|review|plan)(?=\s|$)/i;
const LINE =
  /(?:^|\n)[ \t]{0,20}workflow[ \t]{0,4}[:=][ \t]{0,4}(build|debug|review|plan)[ \t]{0,20}[.;]?[ \t]{0,20}(?=\n|$)/i;

/**
 * One clause, so that it asks for nothing besides. The word after the verb shows that it is one: "review comments vanish"
 * and "plan picker for the price page" speak of things.
 */
const REQUEST =
  /^\s{0,20}(?:(?:please|pls|kindly|can you|could you) ){0,2}(debug|review|plan) (?:the|this|that|these|those|my|our|your|all|every|an?|how|pr|mr|head|#)(?![\w-])[^,;:!?\n]{0,100}[.!?]?\s{0,20}$/i;
const GOES_ON = /\b(?:and|then|but)\b/i;

export type Explicit = { readonly workflow: Workflow; readonly words: string };

/** contracts/C2: only so much of a goal is searched. */
const SEARCHED_CHARS = 2048;

export function explicitWorkflow(goal: string): Explicit | null {
  const text = goal.slice(0, SEARCHED_CHARS);
  const match = COMMAND.exec(text) ?? LINE.exec(text) ?? request(text);
  if (match === null) return null;
  return { workflow: (match[1] ?? "").toUpperCase() as Workflow, words: match[0].trim() };
}

function request(text: string): RegExpExecArray | null {
  return GOES_ON.test(text) ? null : REQUEST.exec(text);
}
