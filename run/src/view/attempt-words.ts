/** What an attempt tells people about its task: codes and messages, in the order of its records. */
import type { Choice, InputBody } from "@antiphon/contracts";
import type { Attempt } from "../facts/run-facts.ts";

/** The part of a task's view that an attempt sets. An absent field keeps its earlier value. */
interface Told {
  readonly code?: string | null;
  readonly message?: string;
}

export function toldBy({ result, criteria, answer, verdict, approval, gates, landing }: Attempt): Told[] {
  const told: Told[] = [];
  if (criteria !== null) {
    const choice = answer === null ? null : turnedDown(answer.body);
    if (answer === null) told.push({ message: criteria.message });
    else if (choice !== null) told.push(turnDown({ ...answer.body, choice, at: answer.at }));
  }
  if (result?.kind === "lapsed")
    told.push({ code: "ANT_TASK_LAPSED", message: `${result.holder} went silent` });
  if (result?.kind === "abandoned") told.push({ code: result.code, message: result.message });
  if (result?.kind === "reported") {
    const { status, summary: message } = result.result;
    told.push(
      status === "needs_input" ? { message } : { message, code: status === "ok" ? null : result.code },
    );
    const choice = answer === null ? null : turnedDown(answer.body);
    if (status === "needs_input" && answer !== null && choice !== null)
      told.push(turnDown({ ...answer.body, choice, at: answer.at }));
  }
  if (verdict !== null) told.push({ code: verdict.code, message: verdict.message });
  const last = approval?.words.at(-1);
  if (approval !== null && last !== undefined && last.choice !== "approve") told.push(turnDown(last));
  if (gates.blocked !== null) told.push(gates.blocked);
  if (landing?.kind === "refused") told.push({ code: landing.code, message: landing.message });
  if (landing?.kind === "landed") told.push({ code: null });
  return told;
}

/** How a person refused to go on. Null: the answer is no refusal. */
export function turnedDown({ event, choice }: InputBody): "reject" | "changes" | null {
  return event === "approval" && (choice === "reject" || choice === "changes") ? choice : null;
}

function turnDown({
  choice,
  by,
  at,
  reason = "",
}: {
  choice: Choice;
  by: string;
  at: string;
  reason?: string;
}) {
  const why = reason.trim() === "" ? "no reason given" : reason;
  return choice === "reject"
    ? { code: "ANT_TASK_REJECTED", message: `rejected by ${by} at ${at}: ${why}` }
    : { code: "ANT_TASK_CHANGES_ASKED", message: `${by} asked for changes at ${at}: ${why}` };
}
