/**
 * The message of a landed commit. A function of the records and of what the checks prove, which its verdict records.
 *
 * The subject is the person's and may close an issue; the text below it is the agent's and may not (inert-text.ts).
 */
import type { Proves } from "@antiphon/contracts";
import type { TaskPhase, TaskState } from "@antiphon/run";
import { inertText } from "./inert-text.ts";

const SUBJECT_MAX = 72;

export interface CommitMessage {
  message: string;
  trailers: Record<string, string>;
}

export function commitMessage(
  runId: string,
  task: TaskState,
  phase: Extract<TaskPhase, { kind: "proposed" }>,
  proves: Proves,
): CommitMessage {
  const { instruction, task_id } = task.planned.task;
  const subject = shorten(firstLine(instruction));
  const summary = phase.report.result.summary.trim();
  return {
    message:
      summary === "" || summary === subject ? subject : `${subject}\n\n${inertText(printable(summary))}`,
    trailers: {
      "Antiphon-Run": runId,
      "Antiphon-Task": task_id,
      "Antiphon-Epoch": String(phase.epoch),
      "Antiphon-Evidence": phase.report.evidence.digest,
      // Whoever reads the history sees which commits no check speaks for.
      ...(proves === "nothing" ? { "Antiphon-Proves": proves } : {}),
    },
  };
}

function firstLine(text: string): string {
  return printable(text.split("\n", 1)[0] ?? "").trim();
}

function shorten(line: string): string {
  if (line.length <= SUBJECT_MAX) return line;
  const cut = line.slice(0, SUBJECT_MAX - 1);
  const space = cut.lastIndexOf(" ");
  return `${space > SUBJECT_MAX / 2 ? cut.slice(0, space) : cut}…`;
}

/** Keeps line breaks; replaces characters that could rewrite a terminal, and defuses lines that look like a trailer. */
function printable(text: string): string {
  return text
    .replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, " ")
    .replace(/^(Antiphon-[A-Za-z]+):/gm, "$1 -");
}
