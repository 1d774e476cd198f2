/**
 * The question of a program that works in a sandbox. A program that cannot go on without a person writes its question to
 * the file that ANTIPHON_QUESTION_FILE names and exits with code 0. Its attempt then ends with that question, no check runs,
 * and the next attempt is told the answer. Pure.
 */
import type { SandboxOutcome, SandboxStep } from "@antiphon/contracts";

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
  const text = step.stdout.tail
    .replace(/\r\n?/g, "\n")
    .replace(
      /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffd]/g,
      " ",
    )
    .trim();
  if (text === "") return null;
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS - 1)}…` : text;
}
