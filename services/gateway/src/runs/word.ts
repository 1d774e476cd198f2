// Turns an answer or approval into its record, or into the reason for refusing it. Pure: it judges by the facts of the run,
// so after a lost race the caller judges again and learns who was first.
import { AntiphonError, ownerOf } from "@antiphon/contracts";
import { askedOf, runView, timeOf, type RunFacts } from "@antiphon/run";
import type { NewRecord, RunStep, RunViewModel } from "@antiphon/contracts";
import { hasApproved } from "@antiphon/contracts/runs/step-approval";
import { askedOfStep, takesUnproven } from "./criteria-answer.ts";
import { invalid, type Answer, type Approval } from "./side-event.ts";

export interface Said {
  readonly step: RunStep;
  /** Null: the same person has already sent it. */
  readonly record: NewRecord | null;
  /** It takes the run's changes without proof. Absent: it does not. */
  readonly isUnproven?: true;
}

/** An answer or decision on record. */
type Word = RunFacts["words"][number];

export function wordOf(facts: RunFacts, event: Answer | Approval, by: string): Said {
  const view = runView(facts);
  const last = lastWord(facts, event.task);
  if (facts.closed !== null)
    throw refused("ANT_RUN_TERMINAL", `${view.runId} is over: ${view.status}`, view.status, last);
  if (facts.cancel !== null)
    throw refused("ANT_RUN_NOT_WAITING", `${facts.cancel.by} has canceled the run`, view.status, last);
  const repeated = repeatedStep(view, event, by, last);
  if (repeated !== null) return { step: repeated, record: null };
  const step = waitingStep(view, event, last);
  const isPending = step.approval?.state === "pending";
  if (event.kind === "approval" && isPending) return approval(facts, step, event, by);
  if (isPending) {
    const message = `${step.id} waits for an approval, not for an answer`;
    throw refused("ANT_RUN_NOT_WAITING", message, view.status, null);
  }
  if (event.kind === "approval" && event.verdict !== null)
    throw stale(event.verdict, `${step.id} asks a question`, null);
  const asks = askedOfStep(facts, step.id, step.epoch);
  const isUnproven = asks !== null && takesUnproven(asks, event);
  return { step, record: input(view.runId, step, event, by), ...(isUnproven ? { isUnproven } : {}) };
}

/** The attempt that waits for this event. It is refused if no attempt waits, or if several do and none is named. */
function waitingStep(view: RunViewModel, event: Answer | Approval, last: Word | null): RunStep {
  const { task } = event;
  const waiting = view.steps.filter((step) => step.phase === "waiting_input");
  const asked =
    task === null ? waiting : waiting.filter((step) => step.id.toLowerCase() === task.toLowerCase());
  const [only, another] = asked;
  if (only === undefined) {
    const known = (step: RunStep): boolean =>
      event.kind === "approval" && step.approval?.verdict === event.verdict;
    if (event.kind === "approval" && event.verdict !== null && !view.steps.some(known))
      throw stale(event.verdict, "nothing is waiting", null);
    const what = event.kind === "approval" ? "a decision" : "an answer";
    const message = `${task ?? view.runId} is not waiting for ${what}; ${now(view, waiting)}`;
    throw refused("ANT_RUN_NOT_WAITING", message, view.status, last);
  }
  if (another === undefined) return only;
  const tasks = asked.map((step) => step.id);
  throw new AntiphonError(
    "ANT_RUN_NOT_WAITING",
    `several tasks are waiting; name one with "task": ${tasks.join(", ")}`,
    { data: { waiting: tasks } },
  );
}

function now({ status }: RunViewModel, waiting: readonly RunStep[]): string {
  const [one, ...more] = waiting.map(({ id }) => id);
  if (one === undefined) return `the run is ${status}`;
  return `${[one, ...more].join(", ")} ${more.length === 0 ? "is" : "are"}`;
}

function approval(facts: RunFacts, step: RunStep, event: Approval, by: string): Said {
  const { approval: pending } = step;
  if (pending === undefined) throw new Error(`${step.id} has no approval`);
  if (event.verdict !== null && event.verdict !== pending.verdict)
    throw stale(event.verdict, `${pending.verdict} is waiting`, pending.verdict);
  if (event.answers.length > 0)
    throw invalid("/answers", `${step.id} asks no question: an approval of a change takes no answers`);
  if (event.choice === "approve") {
    if (hasApproved(pending, by)) return { step, record: null };
    const requester = facts.intent?.principal ?? "";
    const own = ownerOf(by, askedOf(facts).askers);
    if (own !== undefined) {
      const did =
        own === requester
          ? "requested the run"
          : facts.intent?.asked_by?.includes(own) === true
            ? "chose the proof of the run that this one retries or forks"
            : "told the run's agent something or answered it";
      const why = by === own ? `${by} ${did}` : `"${by}" is not a single person`;
      throw new AntiphonError("ANT_APPROVAL_OWN", `${why}, so the approval does not count`, {
        data: { by, requester },
      });
    }
  }
  const n = 1 + facts.words.filter(({ type }) => type === "approval").length;
  const { choice } = event;
  const reason = event.reason.trim() === "" ? {} : { reason: event.reason };
  const body = { task: step.id, attempt: step.epoch, verdict: pending.verdict, choice, by, ...reason };
  const { runId } = facts;
  return { step, record: { type: "approval", runId, taskId: null, epoch: n, cause: null, body } };
}

function input(runId: string, step: RunStep, event: Answer | Approval, by: string): NewRecord {
  const words =
    event.kind === "answer"
      ? { event: event.event }
      : {
          event: event.kind,
          choice: event.choice,
          ...(event.reason.trim() === "" ? {} : { reason: event.reason }),
        };
  const body = { ...words, answers: event.answers, by, instructs: true };
  return { type: "input", runId, taskId: step.id, epoch: step.epoch, cause: null, body };
}

/** The step of an earlier, equal decision by the same person: repeating it is accepted. */
function repeatedStep(
  view: RunViewModel,
  event: Answer | Approval,
  by: string,
  last: Word | null,
): RunStep | null {
  if (event.kind !== "approval" || last?.by !== by || last.choice !== event.choice) return null;
  const step = view.steps.find(({ id, epoch }) => id === last.task && epoch === last.epoch);
  if (step === undefined || step.phase === "waiting_input") return null;
  return event.verdict === null || event.verdict === step.approval?.verdict ? step : null;
}

function lastWord({ words }: RunFacts, task: string | null): Word | null {
  return words.findLast((word) => task === null || word.task.toLowerCase() === task.toLowerCase()) ?? null;
}

function refused(
  code: "ANT_RUN_TERMINAL" | "ANT_RUN_NOT_WAITING",
  message: string,
  status: string,
  last: Word | null,
): AntiphonError {
  const first = last === null ? null : firstOf(last);
  const who = first === null ? "" : `; ${first.by} was first: ${first.choice} at ${first.at}`;
  return new AntiphonError(code, `${message}${who}`, {
    data: { status, ...(first === null ? {} : { first }) },
  });
}

/** A word as an error reports it. */
function firstOf({ by, choice, at, task, epoch }: Word) {
  return { by, choice, at: timeOf(at), task, epoch };
}

function stale(named: string, instead: string, waits: string | null): AntiphonError {
  return new AntiphonError("ANT_APPROVAL_STALE", `the approval is about ${named}, but ${instead}`, {
    data: { named, waits },
  });
}
