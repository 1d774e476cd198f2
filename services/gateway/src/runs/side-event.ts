// Parses the events people send to an open run: cancel, answer, approval. Pure.
import { AntiphonError, CHOICES, isChoice, validate } from "@antiphon/contracts";
import type { Choice, RunEvent } from "@antiphon/contracts";

export interface Answer {
  readonly kind: "answer";
  readonly event: string;
  readonly answers: string[];
  /** The addressed task; null: the one that waits. */
  readonly task: string | null;
}

export interface Approval {
  readonly kind: "approval";
  readonly choice: Choice;
  readonly reason: string;
  /** Answers that accompany an `approve` of a question. */
  readonly answers: string[];
  readonly task: string | null;
  /** Digest of the verdict it is about; null: the one that waits. */
  readonly verdict: string | null;
}

export interface Message {
  readonly kind: "message";
  readonly text: string;
  /** The addressed task; null: the one that is worked on. */
  readonly task: string | null;
  /** The same one again is the same message; null: each request is a message of its own. */
  readonly key: string | null;
}

export type SideEvent = { kind: "cancel"; reason: string } | Answer | Approval | Message;

type Field = Exclude<keyof RunEvent, "event">;

/** The fields of each event besides its name; any other field is refused. */
const FIELDS: Readonly<Record<string, readonly Field[]>> = {
  approval: ["choice", "reason", "answers", "task", "verdict"],
  answer: ["answers", "task"],
  input: ["answers", "task"],
  cancel: ["reason"],
  message: ["text", "task", "key"],
};

export function sideEventOf(body: unknown): SideEvent {
  const outcome = validate("RunEvent", body ?? null);
  if (!outcome.ok) {
    const [problem] = outcome.errors;
    throw invalid(
      problem?.path ?? "",
      `${problem?.message ?? "not valid"}, found ${problem?.found ?? "something else"}`,
    );
  }
  const { event, answers = [], reason = "", task = null } = outcome.value;
  const fields = Object.hasOwn(FIELDS, event) ? FIELDS[event] : undefined;
  if (fields === undefined) {
    const known = Object.keys(FIELDS).join(", ");
    throw invalid("/event", `must be one of ${known}, found ${JSON.stringify(event)}`);
  }
  const stray = Object.keys(outcome.value).find((key) => key !== "event" && !fields.includes(key as Field));
  if (stray !== undefined)
    throw invalid(`/${stray}`, `an event "${event}" takes ${fields.join(", ")}, not ${stray}`);
  if (event === "cancel") return { kind: "cancel", reason };
  if (event === "approval") return approvalOf(outcome.value);
  if (event === "message") {
    const { text = "", key = null } = outcome.value;
    if (text.trim() === "") throw invalid("/text", "missing: what the attempt is told");
    return { kind: "message", text, task, key };
  }
  if (answers.length === 0) throw invalid("/answers", "contains no answer");
  return { kind: "answer", event, answers, task };
}

function approvalOf({ choice, reason = "", answers = [], task, verdict }: RunEvent): Approval {
  if (!isChoice(choice)) {
    const found = choice === undefined ? "nothing" : JSON.stringify(choice);
    throw invalid("/choice", `must be one of ${CHOICES.join(", ")}; found ${found}`);
  }
  if (choice === "changes" && reason.trim() === "")
    throw invalid("/reason", "missing: it says which changes the next attempt has to make");
  if (choice !== "approve" && answers.length > 0)
    throw invalid("/answers", `a choice "${choice}" takes a reason, not answers`);
  return { kind: "approval", choice, reason, answers, task: task ?? null, verdict: verdict ?? null };
}

export function invalid(path: string, message: string): AntiphonError {
  return new AntiphonError("ANT_CONTRACT_INVALID", `${path === "" ? "the body" : path}: ${message}`, {
    data: { path },
  });
}
