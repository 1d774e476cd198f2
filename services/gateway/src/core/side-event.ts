// What people may say to a run that is under way, and to which attempt it belongs. Pure.
import { AntiphonError, validate } from "@antiphon/contracts";
import type { InputBody, RunStep, RunViewModel } from "@antiphon/contracts";

export type SideEvent =
  | { kind: "cancel"; reason: string }
  | { kind: "input"; event: string; choice: string | null; answers: string[]; task: string | null };

const EVENTS = ["approval", "answer", "input", "cancel"];

export function sideEventOf(body: unknown): SideEvent {
  const outcome = validate("RunEvent", body ?? null);
  if (!outcome.ok) {
    const [problem] = outcome.errors;
    throw invalid(
      problem?.path ?? "",
      `${problem?.message ?? "not valid"}, found ${problem?.found ?? "something else"}`,
    );
  }
  const { event, choice, answers = [], reason = "", task } = outcome.value;
  if (event === "cancel") return { kind: "cancel", reason };
  if (!EVENTS.includes(event))
    throw invalid("/event", `must be one of ${EVENTS.join(", ")}, found ${JSON.stringify(event)}`);
  if (event === "approval" && choice === undefined)
    throw invalid("/choice", "an approval has a choice: approve or reject");
  if (event !== "approval" && answers.length === 0) throw invalid("/answers", "there is no answer in it");
  return { kind: "input", event, choice: choice ?? null, answers, task: task ?? null };
}

function invalid(path: string, message: string): AntiphonError {
  return new AntiphonError("ANT_CONTRACT_INVALID", `${path === "" ? "the body" : path}: ${message}`, {
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
