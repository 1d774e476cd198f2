/**
 * How a program that works in a sandbox leaves a question for a person when it ends. Its attempt then ends with that question,
 * and no check runs. While its container is kept, it is started again there with the answer (attempt/going-on-script.ts); else
 * the next attempt is told. A program that waits for its answer runs antiphon-ask instead. Pure.
 *
 * - It writes the question to the file that ANTIPHON_QUESTION_FILE names and exits with code 0.
 * - It writes `{"question": "...", "choices": [...]}` to .antiphon/question.json and exits with code 78.
 * - Its pack names another exit code, and another file or its standard output.
 */
import type { PackAsks, SandboxOutcome, SandboxStep } from "@antiphon/contracts";
import type { Change } from "../ports.ts";

export const QUESTION_FILE = "/tmp/antiphon-question";

const STEP = "question";
const MAX_CHARS = 4000;
/** A failure here ends the job before the checks. */
const SCRIPT = '[ -s "$1" ] || exit 0; head -c 16000 -- "$1"; exit 1';

export function questionStep(env: Readonly<Record<string, string>>, timeoutMs: number): SandboxStep {
  const argv = ["sh", "-c", SCRIPT, "sh", QUESTION_FILE];
  return { id: STEP, argv, env: { ...env }, timeoutMs, continueOnFailure: false, quiet: true };
}

/** The question as plain text of a bounded length; null: the program asked nothing. */
export function questionIn(outcome: SandboxOutcome): string | null {
  const step = outcome.steps.find(({ id }) => id === STEP);
  if (outcome.outcome !== "completed" || step?.exitCode !== 1) return null;
  return plainQuestion(step.stdout.tail);
}

/** sysexits.h: something has to be set up by a person. */
export const LEFT_ASKS_EXIT = 78;
export const LEFT_FILE = ".antiphon/question.json";
const LEFT_BYTES = 64 * 1024;

/** The question of a program that ended with the reserved code; null: it left none that can be read. */
export function questionLeft(outcome: SandboxOutcome, { files }: Change): string | null {
  if (outcome.outcome !== "completed" || !outcome.steps.some(({ exitCode }) => exitCode === LEFT_ASKS_EXIT))
    return null;
  const content = files.find(({ path }) => path === LEFT_FILE)?.content;
  if (content === undefined || content.length > LEFT_BYTES) return null;
  return told(objectIn(content.toString("utf8")));
}

/** The question of an agent whose pack has a way of its own to ask; null: it did not ask. */
export function ownQuestion(
  asks: PackAsks | undefined,
  outcome: SandboxOutcome,
  { files }: Change,
): string | null {
  // A check may end with the same code.
  const step = outcome.steps.find(
    ({ id, exitCode }) => id.startsWith("work-") && exitCode === asks?.exit_code,
  );
  if (asks === undefined || step === undefined || outcome.outcome !== "completed") return null;
  if (asks.file === undefined) return plainQuestion(step.stdout.tail.slice(-MAX_CHARS));
  const content = files.find(({ path }) => path === asks.file)?.content;
  if (content === undefined || content.length > LEFT_BYTES) return null;
  return questionAs("either", content.toString("utf8"));
}

/** text: it is the question. json: an object with it. either: such an object, or the question. Null: it says nothing. */
export type LeftAs = "text" | "json" | "either";

export function questionAs(way: LeftAs, text: string): string | null {
  const named = way === "text" ? null : told(objectIn(text));
  return way === "json" ? named : (named ?? plainQuestion(text));
}

/** Null: the object holds no question. */
function told({ question, choices }: Readonly<Record<string, unknown>>): string | null {
  if (typeof question !== "string") return null;
  const among = Array.isArray(choices) ? choices.filter((one) => typeof one === "string") : [];
  return plainQuestion(among.length === 0 ? question : `${question} [${among.join(" | ")}]`);
}

/** Empty for a text that is no JSON object; the program has failed then, and its output says why. */
function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The change without the question. */
export function withoutQuestion(change: Change): Change {
  return { ...change, files: change.files.filter(({ path }) => path !== LEFT_FILE) };
}

/** Null: it says nothing. */
export function plainQuestion(said: string): string | null {
  const text = said
    .replace(/\r\n?/g, "\n")
    .replace(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd]/g,
      " ",
    )
    .trim();
  if (text === "") return null;
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS - 1)}…` : text;
}
