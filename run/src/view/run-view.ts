/**
 * The view of a run for people: a map over its facts. Any prefix of the records gives a view, so a view can be rebuilt
 * at any time.
 *
 * Lifecycle: queued -> running <-> waiting_input -> succeeded | failed | canceled.
 */
import { BUCKETS } from "@antiphon/contracts/topology/topology";
import type {
  AgentSpec,
  Choice,
  DirectorTask,
  InputBody,
  RunArtifact,
  RunStep,
  RunViewModel,
  VerdictBody,
} from "@antiphon/contracts";
import {
  isPaused,
  type Attempt,
  type EvidenceFact,
  type RunFacts,
  type TaskFacts,
} from "../facts/run-facts.ts";

/** run/R1 */
export function runView(facts: RunFacts): RunViewModel {
  const steps = (facts.tasks ?? []).map((task) => stepOf(facts, task));
  const { runId, traceId } = facts;
  const trace = traceId === null ? {} : { traceId };
  return { runId, status: statusOf(facts, steps), steps, artifacts: artifactsOf(facts), ...trace };
}

/** A run waits as long as one of its steps waits. */
function statusOf({ closed, tasks }: RunFacts, steps: readonly RunStep[]): RunViewModel["status"] {
  if (closed !== null) return closed.status;
  if (tasks === null) return "queued";
  return steps.some(({ phase }) => phase === "waiting_input") ? "waiting_input" : "running";
}

function stepOf(facts: RunFacts, { planned, attempts }: TaskFacts): RunStep {
  const { task, deps } = planned;
  const newest = attempts.at(-1);
  const sent = attempts.findLast(({ dispatched }) => dispatched);
  const told = attempts.flatMap(toldBy);
  const approval = sent?.approval ?? null;
  return {
    id: task.task_id,
    title: task.instruction,
    kind: task.kind,
    ...standing(facts, { planned, attempts }),
    epoch: (newest !== undefined && isAsked(newest) ? newest : sent)?.epoch ?? 0,
    attempts: attempts.filter(({ result }) => result?.kind === "reported").length,
    deps: [...deps],
    ...ownOf(facts, planned),
    ...networkOf(task),
    verdict: (newest?.verdict ?? sent?.verdict)?.verdict ?? null,
    code: told.findLast(({ code }) => code !== undefined)?.code ?? null,
    message: told.findLast(({ message }) => message !== undefined)?.message ?? null,
    commit: newest === undefined ? null : commitOf(newest),
    questions: newest === undefined ? [] : questionsOf(newest),
    associate: sent?.associate ?? null,
    ...(approval === null ? {} : { approval }),
  };
}

/** The agent and the image that the task does not share with its run. */
function ownOf(
  { intent }: RunFacts,
  { task, agent, image }: TaskFacts["planned"],
): Pick<RunStep, "agent" | "image"> {
  const named = agentWords(agent);
  const isOwn = intent !== null && task.kind !== "git" && named !== agentWords(intent.options.agent);
  return {
    ...(isOwn ? { agent: named } : {}),
    ...(image === undefined ? {} : { image }),
  };
}

/** Most tasks can reach nothing besides the models that a budget pays for, and say nothing. A record may be of another writer. */
function networkOf({ egress_profile: own }: Partial<DirectorTask>): Pick<RunStep, "network"> {
  const { mode = "none", allowlist = [] } = own ?? {};
  const reaches = mode === "none" ? [] : [...(mode === "git+pkg" ? [mode] : []), ...allowlist];
  return reaches.length === 0 ? {} : { network: reaches.join(", ") };
}

function agentWords(agent: AgentSpec): string {
  if (agent.kind !== "pack") return agent.kind;
  return agent.model === undefined ? agent.name : `${agent.name} (${agent.model.name})`;
}

type Standing = Pick<RunStep, "status" | "phase">;

/** A run that is over has no step under way. The status of a run has no value for a pause (seed 002), so its steps show it. */
function standing(facts: RunFacts, task: TaskFacts): Standing {
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

/** The Director asked, and nobody has answered. */
function isAsked({ criteria, answer }: Attempt): boolean {
  return criteria !== null && answer === null;
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

/** The part of a task's view that an attempt sets. An absent field keeps its earlier value. */
interface Told {
  readonly code?: string | null;
  readonly message?: string;
}

function toldBy({ result, criteria, answer, verdict, approval, gates, landing }: Attempt): Told[] {
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

function turnedDown({ event, choice }: InputBody): "reject" | "changes" | null {
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

function commitOf({ verdict, approval, gates, landing }: Attempt): string | null {
  if (gates.blocked !== null) return null;
  if (landing !== null) return landing.kind === "landed" ? landing.commit : null;
  if (approval !== null) return approval.state === "approved" ? approval.commit : null;
  return verdict?.verdict === "PASS" ? verdict.commit : null;
}

function questionsOf(attempt: Attempt): string[] {
  const { result, criteria, answer, approval } = attempt;
  if (criteria !== null) return isAsked(attempt) ? criteria.asks.map(({ question }) => question) : [];
  if (approval?.state === "pending") return [`May commit ${approval.commit.slice(0, 10)} land?`];
  const isAsking = result?.kind === "reported" && result.result.status === "needs_input" && answer === null;
  return isAsking ? [...result.result.questions] : [];
}

function artifactsOf({ runId, tasks, evidence }: RunFacts): RunArtifact[] {
  if (tasks === null) return [];
  const plan: RunArtifact = {
    ...{ kind: "Plan", taskId: null, epoch: 0, title: "Router contract" },
    ...{ bucket: BUCKETS.contracts, name: `${runId}.router`, digest: null, bytes: null },
  };
  return [plan, ...evidence.filter(({ isLate }) => !isLate).flatMap(artifactsFrom)];
}

function artifactsFrom({ taskId, epoch, ref, from }: EvidenceFact): RunArtifact[] {
  const at = { taskId, epoch };
  const kept = { bucket: BUCKETS.evidence, name: ref.key, digest: ref.digest, bytes: null };
  if (from.kind === "verdict")
    return [{ kind: "TestResults", ...at, title: `Clean room: ${from.verdict}`, ...kept }];
  const bundle: RunArtifact = { kind: "Log", ...at, title: `Evidence of attempt ${epoch}`, ...kept };
  if (from.patch === null) return [bundle];
  const { bucket, name, digest, bytes } = from.patch;
  return [bundle, { kind: "Diff", ...at, title: `Diff of attempt ${epoch}`, bucket, name, digest, bytes }];
}
