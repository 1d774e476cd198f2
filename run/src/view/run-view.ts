/**
 * The view of a run for people: a map over its facts. Any prefix of the records gives a view, so a view can be rebuilt
 * at any time.
 *
 * Lifecycle: queued -> running <-> waiting_input -> succeeded | failed | canceled.
 */
import { BUCKETS } from "@antiphon/contracts/topology/topology";
import type { AgentSpec, DirectorTask, RunArtifact, RunStep, RunViewModel } from "@antiphon/contracts";
import type { Attempt, EvidenceFact, RunFacts, TaskFacts } from "../facts/run-facts.ts";
import { toldBy } from "./attempt-words.ts";
import { standing } from "./step-standing.ts";

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
    verdict: verdictOf(newest, sent),
    code: told.findLast(({ code }) => code !== undefined)?.code ?? null,
    message: told.findLast(({ message }) => message !== undefined)?.message ?? null,
    commit: newest === undefined ? null : commitOf(newest),
    questions: newest === undefined ? [] : questionsOf(newest),
    associate: sent?.associate ?? null,
    ...(approval === null ? {} : { approval }),
  };
}

/**
 * The refused dispatch of an attempt that would fail as the last one did ends the task, and says nothing new about the change: the
 * verdict of the clean room stands.
 */
function verdictOf(newest: Attempt | undefined, sent: Attempt | undefined): RunStep["verdict"] {
  const [last, judged] = [newest?.verdict ?? null, sent?.verdict ?? null];
  const repeats = newest !== sent && judged !== null && judged.code === last?.code;
  return (repeats ? judged : (last ?? judged))?.verdict ?? null;
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

/** The Director asked, and nobody has answered. */
function isAsked({ criteria, answer }: Attempt): boolean {
  return criteria !== null && answer === null;
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
