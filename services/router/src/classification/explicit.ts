/** The workflow that a goal names outright: a command in front, or a line that says so. Nothing else is certain. */
import type { Workflow } from "@antiphon/contracts";

const COMMAND = /^\s{0,20}\/(build|debug|review|plan)(?=\s|$)/i;
const LINE =
  /(?:^|\n)[ \t]{0,20}workflow[ \t]{0,4}[:=][ \t]{0,4}(build|debug|review|plan)[ \t]{0,20}[.;]?[ \t]{0,20}(?=\n|$)/i;

export type Explicit = { readonly workflow: Workflow; readonly words: string };

/** router/R2: only so much of a goal is searched. */
const SEARCHED_CHARS = 2048;

export function explicitWorkflow(goal: string): Explicit | null {
  const text = goal.slice(0, SEARCHED_CHARS);
  const match = COMMAND.exec(text) ?? LINE.exec(text);
  if (match === null) return null;
  return { workflow: (match[1] ?? "").toUpperCase() as Workflow, words: match[0].trim() };
}
