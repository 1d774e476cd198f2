// What people may say to a run that is under way, and to which attempt it belongs. Pure.
import { AntiphonError } from "@antiphon/contracts";
import type { InputBody, RunStep, RunViewModel } from "@antiphon/contracts";

export type SideEvent =
  | { kind: "cancel"; reason: string }
  | { kind: "input"; event: string; choice: string | null; answers: string[]; task: string | null };

const KNOWN = ["event", "choice", "answers", "reason", "task"];
const EVENTS = ["approval", "input", "cancel"];

export function sideEventOf(body: unknown): SideEvent {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw invalid("", "the body must be an object with an `event`");
  const { event, choice, answers, reason, task } = body as Record<string, unknown>;
  const stranger = Object.keys(body).find((key) => !KNOWN.includes(key));
  if (stranger !== undefined) throw invalid(`/${stranger}`, `unknown key; there are ${KNOWN.join(", ")}`);
  if (typeof event !== "string" || !EVENTS.includes(event))
    throw invalid("/event", `must be one of ${EVENTS.join(", ")}`);
  if (task !== undefined && typeof task !== "string") throw invalid("/task", "must be a task id");
  if (event === "cancel") {
    if (reason !== undefined && (typeof reason !== "string" || reason.length > 2048))
      throw invalid("/reason", "must be a text of at most 2048 characters");
    return { kind: "cancel", reason: reason ?? "" };
  }
  if (choice !== undefined && (typeof choice !== "string" || choice.length > 256))
    throw invalid("/choice", "must be a text of at most 256 characters");
  const texts = answersOf(answers);
  if (event === "approval" && choice === undefined)
    throw invalid("/choice", "an approval has a choice: approve or reject");
  if (event === "input" && texts.length === 0 && choice === undefined)
    throw invalid("/answers", "an input has at least one answer");
  return { kind: "input", event, choice: choice ?? null, answers: texts, task: task ?? null };
}

function answersOf(answers: unknown): string[] {
  if (answers === undefined) return [];
  if (!Array.isArray(answers) || answers.length > 64)
    throw invalid("/answers", "must be a list of at most 64 texts");
  return answers.map((answer: unknown, i) => {
    if (typeof answer === "string" && answer.length <= 8192) return answer;
    throw invalid(`/answers/${i}`, "must be a text of at most 8192 characters");
  });
}

function invalid(path: string, message: string): AntiphonError {
  return new AntiphonError("ANT_CONTRACT_INVALID", `${path === "" ? "body" : path}: ${message}`, {
    data: { path },
  });
}

/** The attempt that waits for this answer. An answer to nobody is refused, and so is one to "one of several". */
export function waitingStep(view: RunViewModel, task: string | null): RunStep {
  const waiting = view.steps.filter((step) => step.phase === "waiting_input");
  const asked =
    task === null ? waiting : waiting.filter((step) => step.id.toLowerCase() === task.toLowerCase());
  const [only, another] = asked;
  if (only === undefined) {
    throw new AntiphonError(
      "ANT_RUN_NOT_WAITING",
      `${task ?? view.runId} is not waiting for an answer; the run is ${view.status}`,
      { data: { status: view.status } },
    );
  }
  if (another === undefined) return only;
  const tasks = asked.map((step) => step.id);
  throw new AntiphonError(
    "ANT_RUN_NOT_WAITING",
    `several tasks wait: say which one with "task": ${tasks.join(", ")}`,
    { data: { waiting: tasks } },
  );
}

export function inputBody(event: Extract<SideEvent, { kind: "input" }>, by: string): InputBody {
  return {
    event: event.event,
    answers: event.answers,
    by,
    ...(event.choice === null ? {} : { choice: event.choice }),
  };
}

export function isOver(view: RunViewModel): boolean {
  return view.status === "succeeded" || view.status === "failed" || view.status === "canceled";
}
