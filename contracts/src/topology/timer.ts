/**
 * Timers are scheduled messages of the server. `antiphon.v1.timer.set.<kind>.<runId>.<taskId|->.<epoch>` holds the
 * schedule, one per register. When a timer comes due, the server moves it to `antiphon.v1.timer.due....`, even after a
 * restart.
 *
 *   deadline  a claim is older than the attempt's budget and grace
 *   rest      the backoff of a repeatedly lost task is over
 *   question  a question was not answered in time
 *   budget    the run's wall-clock budget is spent
 */
import { AntiphonError } from "../errors.ts";
import { safeToken, taskToken } from "./subjects.ts";

export const TIMER_KINDS = ["deadline", "rest", "question", "budget"] as const;
export type TimerKind = (typeof TIMER_KINDS)[number];

export type TimerAddress = { kind: TimerKind; runId: string; taskId: string | null; epoch: number };

const ROOT = "antiphon.v1.timer";
const isKind = (value: string): value is TimerKind => (TIMER_KINDS as readonly string[]).includes(value);

function subject(verb: "set" | "due", { kind, runId, taskId, epoch }: TimerAddress): string {
  return `${ROOT}.${verb}.${kind}.${safeToken(runId)}.${taskToken(taskId)}.${epoch}`;
}

export const timerSubjects = {
  set: (address: TimerAddress): string => subject("set", address),
  due: (address: TimerAddress): string => subject("due", address),
  setAll: `${ROOT}.set.>`,
  dueAll: `${ROOT}.due.>`,
} as const;

/** The address of a `due` subject; the task id is lower-case. */
export function parseTimerSubject(text: string): TimerAddress {
  const [, , , verb, kind = "", runId = "", task = "", epoch = ""] = text.split(".");
  if (verb !== "due" || !isKind(kind) || !/^\d+$/.test(epoch))
    throw new AntiphonError("ANT_CONTRACT_INVALID", `not the subject of a timer: ${text}`);
  return { kind, runId, taskId: task === "-" ? null : task, epoch: Number(epoch) };
}
