/** Reads the text of a plan. Pure; never throws on a faulty text. */
import { readDocument, Refusal, type Place } from "../documents/document-text.ts";
import type { Problem } from "../validation/problem.ts";
import { readPlan, type TaskGraph } from "./read-plan.ts";

/** The file that an agent of a PLAN run writes at the root of its work tree. */
export const PLAN_FILE = "plan.yaml";

export type ReadPlanText =
  { ok: true; plan: TaskGraph; value: unknown } | { ok: false; problem: Problem & Place };

export function readPlanText(text: string, filename: string): ReadPlanText {
  try {
    const { value, placeOf } = readDocument(text, filename);
    const read = readPlan(value);
    if (read.ok) return { ...read, value };
    // A document that is a list, or one task, is read as `{tasks: [...]}`.
    const path = Array.isArray(value) ? read.problem.path.replace(/^\/tasks/, "") : read.problem.path;
    return { ok: false, problem: { ...read.problem, ...placeOf(path) } };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, problem: error.problem };
    throw error;
  }
}

/** `plan.yaml:12:5: /tasks/2/dependencies/0: ...`, in one line. */
export function planProblemText(
  filename: string,
  { line, column, path, message, expected, found, hint }: Problem & Place,
): string {
  const at = path === "" ? "" : `${path}: `;
  const meant = hint === undefined ? "" : `; ${hint}`;
  const wanted = expected === message ? "" : `expected ${expected}, `;
  return `${filename}:${line}:${column}: ${at}${message}; ${wanted}found ${found}${meant}`;
}
