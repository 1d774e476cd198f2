/** Where a task stands, by its newest attempt: the status and the phase of its step in the view. */
import type { RunStep, VerdictBody } from "@antiphon/contracts";
import { isPaused, type Attempt, type RunFacts, type TaskFacts } from "../facts/run-facts.ts";
import { turnedDown } from "./attempt-words.ts";

type Standing = Pick<RunStep, "status" | "phase">;

/** A run that is over has no step under way. The status of a run has no value for a pause (seed 002), so its steps show it. */
export function standing(facts: RunFacts, task: TaskFacts): Standing {
  const { status, phase } = attemptStanding(facts, task);
  if (facts.closed !== null) return { status: status === "done" ? "done" : "failed", phase: "finished" };
  const sent = task.attempts.findLast(({ dispatched }) => dispatched);
  const isHeld = phase === "ready" && isPaused(facts) && sent?.result !== null;
  return { status, phase: isHeld ? "paused" : phase };
}

function attemptStanding(facts: RunFacts, { planned, attempts }: TaskFacts): Standing {
  const newest = attempts.at(-1);
  if (newest === undefined) return notBegun(facts, planned);
  if (newest.criteria !== null) return askedStanding(facts, planned, newest);
  if (newest.landing !== null) return newest.landing.kind === "landed" ? DONE : OPEN;
  if (newest.verdict !== null) return judgedStanding(newest, newest.verdict);
  if (newest.result !== null) return resultStanding(newest, newest.result, attempts);
  return newest.associate === null ? OPEN : { status: "open", phase: "claimed" };
}

const OPEN: Standing = { status: "open", phase: "ready" };
const BLOCKED: Standing = { status: "open", phase: "blocked" };
const LANDING: Standing = { status: "proposed", phase: "landing" };
const GATED: Standing = { status: "proposed", phase: "gated" };
const DONE: Standing = { status: "done", phase: "finished" };
const REJECTED: Standing = { status: "failed", phase: "finished" };

function notBegun(facts: RunFacts, { deps, gate }: TaskFacts["planned"]): Standing {
  const isFree = deps.every((id) => isDone(facts, id));
  if (gate !== undefined) return isFree ? DONE : BLOCKED; // The change landed and was none that it judges.
  return isFree ? OPEN : BLOCKED;
}

/** Somebody was asked for a check, and the epoch has no attempt. */
function askedStanding(facts: RunFacts, planned: TaskFacts["planned"], { answer }: Attempt): Standing {
  if (answer === null) return { status: "open", phase: "waiting_input" };
  return turnedDown(answer.body) === "reject" ? REJECTED : notBegun(facts, planned);
}

function judgedStanding(
  { approval, gates: { passed, blocked } }: Attempt,
  { verdict, commit, gates = [] }: VerdictBody,
): Standing {
  if (verdict !== "PASS" || blocked !== null) return OPEN;
  if (commit === null) return DONE; // Nothing changed, so nothing lands.
  switch (approval?.state) {
    case "pending":
      return { status: "proposed", phase: "waiting_input" };
    case "rejected":
      return REJECTED;
    case "changes":
      return OPEN;
    default:
      return gates.every((gate) => passed.includes(gate)) ? LANDING : GATED;
  }
}

function resultStanding(
  { answer, rested }: Attempt,
  result: NonNullable<Attempt["result"]>,
  attempts: readonly Attempt[],
): Standing {
  if (result.kind !== "reported") {
    const waits = isOutage(result) || attempts.filter(({ result: one }) => isLoss(one)).length > 1;
    return waits && !rested ? { status: "open", phase: "resting" } : OPEN;
  }
  if (result.result.status === "ok") return { status: "proposed", phase: "verifying" };
  if (result.result.status === "failed") return OPEN;
  if (answer === null) return { status: "open", phase: "waiting_input" };
  return turnedDown(answer.body) === "reject" ? REJECTED : OPEN;
}

const isOutage = (result: NonNullable<Attempt["result"]>): boolean =>
  result.kind === "abandoned" && result.outage === true;

/** The first loss is retried at once; from the second on, the next attempt waits for a backoff. */
const isLoss = (result: Attempt["result"]): boolean =>
  result !== null && result.kind !== "reported" && !isOutage(result);

function isDone(facts: RunFacts, id: string): boolean {
  const task = facts.tasks?.find(({ planned }) => planned.task.task_id === id);
  return task !== undefined && task.attempts.length > 0 && attemptStanding(facts, task).status === "done";
}
