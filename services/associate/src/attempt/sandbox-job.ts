/**
 * The sandbox part of an attempt: one job, on any runner that takes it. After an infrastructure fault it is tried again.
 *
 * Waiting for a free sandbox does not spend the task's budget. The wait is limited, so that the claim does not expire
 * meanwhile. A fault says `outage` when no sandbox was available and none was ever started for the job.
 *
 * Because a runner that falls silent, or cannot remove its container, may leave that container running, the attempt is then
 * abandoned instead of tried again, so an attempt never has two containers at once (associate/A1).
 */
import { AntiphonError, FINDINGS_FILE, limits, QA_FILE } from "@antiphon/contracts";
import type { ErrorCode, SandboxEvent, SandboxOutcome, SandboxRequest } from "@antiphon/contracts";
import type { JobPlan } from "./attempt.ts";
import { endingOf } from "./ending.ts";
import { isOwnFault, retryDelayMs } from "./fault.ts";
import type { AttemptPorts, Change, ChangedFile, Overlays } from "../ports.ts";
import { questionOf } from "./going-on.ts";
import { NO_ANSWER } from "./going-on-script.ts";
import type { JobCalls, JobEnd } from "./running-job.ts";
import type { AttemptOrder, Stops } from "./attempt-order.ts";
import { secretValues } from "./secret-variables.ts";

/** The sandbox got no network, so no command was started in it. */
const NO_NETWORK: ReadonlySet<ErrorCode> = new Set(["ANT_EGRESS_BUSY", "ANT_EGRESS_UNAVAILABLE"]);
/** No sandbox was available. */
const OUTAGES: ReadonlySet<ErrorCode> = new Set([
  ...NO_NETWORK,
  "ANT_DOCKER_UNREACHABLE",
  "ANT_SANDBOX_BUSY",
  "ANT_SANDBOX_RUNNER_LOST",
]);

/** The part of the request that is the same for every try. */
export type Job = Omit<SandboxRequest, "jobId" | "budgetMs">;

/** Files up to this size in all are part of the request; larger changes go as a tar through the object store. */
const INLINE_BYTES = 128 * 1024;
/** The runner ends a job at its budget, then reads its changes. This long after that, the attempt stops waiting for them. */
const BUDGET_GRACE_MS = 15_000;
/** The longest wait for a free sandbox: half of the time that a claim has beyond the task's budget. */
const QUEUE_MS = (limits.claimGraceS * 1000) / 2;

export async function jobOf(
  order: AttemptOrder,
  overlays: Overlays,
  plan: JobPlan,
  change: Change,
): Promise<Job> {
  const { base, history } = order.dispatch;
  const inline = change.files.reduce((sum, file) => sum + file.content.length, 0) <= INLINE_BYTES;
  return {
    run: order.replay?.id ?? order.runId,
    task: order.dispatch.task.task_id,
    epoch: order.epoch,
    purpose: "attempt",
    image: order.dispatch.image,
    workspace: {
      tree: base.object,
      ...(base.linked === undefined ? {} : { linked: base.linked }),
      ...(history == null ? {} : { git: history.object }),
      files: inline ? change.files.map(inlineFile) : [],
      overlay: inline ? null : await overlays.pack(change.files),
      deletions: [...change.deletions, ...wordsOfJudges(order)],
      ...(order.dispatch.environment === undefined ? {} : { environment: order.dispatch.environment }),
    },
    steps: [...plan.steps],
    ...egressOf(order),
    ...limitsOf(order),
    ...(order.dispatch.services === undefined ? {} : { services: order.dispatch.services }),
    ...inboxOf(order),
    collect: plan.collectAfter !== null,
    ...(plan.collectAfter === null ? {} : { collectAfter: plan.collectAfter }),
  };
}

/** The files that a judge has to write. They are removed before it starts, because one in the judged tree is not its word. */
function wordsOfJudges({ dispatch: { task } }: AttemptOrder): readonly string[] {
  return task.return.artifacts.filter((path) => path === FINDINGS_FILE || path === QA_FILE);
}

/** The task's egress profile (seed 000) and the budget of its model calls. With mode `none` there is no network. */
function egressOf({ dispatch, replay, resumes, recorded = [] }: AttemptOrder): Pick<Job, "egress"> {
  const { egress_profile: profile } = dispatch.task;
  if (profile.mode === "none") return {};
  const secrets = secretValues(dispatch.env);
  const masks = secrets.length === 0 ? {} : { masks: [...secrets] };
  if (replay !== undefined) {
    const recorded = { calls: [...replay.calls], then: "stop" as const };
    return { egress: { profile, model_budget: null, checkpoints: true, ...masks, replay: recorded } };
  }
  return {
    egress: {
      profile,
      ...masks,
      model_budget: dispatch.model_budget ?? null,
      // A checkpoint holds the conversation, so a run that records no calls leaves none.
      ...(dispatch.record_calls === false ? { record: false } : { checkpoints: true }),
      ...(resumes === undefined ? {} : { resumes: resumes.newest, resumes_since: resumes.oldest }),
      ...(recorded.length === 0 ? {} : { replay: { calls: [...recorded], then: "live" as const } }),
    },
  };
}

/** A replay gives each message at the look that read it then. */
function inboxOf({ replay }: AttemptOrder): Pick<Job, "messages"> {
  const { read = [] } = replay ?? {};
  return read.length === 0
    ? {}
    : { messages: read.map(({ text, look }, i) => ({ number: i + 1, text, look })) };
}

function limitsOf({ dispatch }: AttemptOrder): Pick<Job, "limits"> {
  const { memory_mib } = dispatch;
  return memory_mib === undefined ? {} : { limits: { memoryBytes: memory_mib * 1024 * 1024 } };
}

function inlineFile({ path, mode, content }: ChangedFile): SandboxRequest["workspace"]["files"][number] {
  return { path, mode, content: content.toString("base64"), encoding: "base64" };
}

/** The outcome of the job, or `over-budget` when the time ran out without one. Throws infrastructure faults. */
export async function runJob(
  job: Job,
  plan: JobPlan,
  ports: AttemptPorts,
  deadlineMs: number,
  stops: Stops,
  calls: JobCalls,
): Promise<JobEnd> {
  const { clock, progress } = ports;
  const { stop } = stops;
  const queuedAt = clock.now();
  let until = deadlineMs;
  let firstFaultAt: number | null = null;
  let hasBegun = false;
  let hasAsked = false;
  const onEvent = (event: SandboxEvent): void => {
    const line = lineOf(event, plan);
    if (line !== null) progress(line);
    if (event.kind !== "question") return;
    const { number, text, tree = null, step = null } = event;
    const asked = questionOf(text);
    if (asked === null) calls.answers.give({ kind: "answer", number, text: NO_ANSWER, epoch: job.epoch });
    else calls.onQuestion({ number, tree, step, ...asked });
    hasAsked ||= asked !== null;
  };
  for (let attempt = 0; ; attempt += 1) {
    const askedAt = clock.now();
    const answer = await runOnce(job, ports, Math.max(1, until - askedAt), onEvent, stops, calls);
    if (!(answer instanceof AntiphonError)) return answer;
    if (stop.aborted || answer.disposition !== "retry") throw answer;
    if (answer.data["mayLive"] === true) throw answer; // associate/A1
    if (hasAsked) throw answer; // Its question is told: a fresh container begins with the files at the question, and the answer.
    hasBegun ||= answer.data["begun"] === true;
    const now = clock.now();
    if (answer.code === "ANT_SANDBOX_BUSY") {
      if (now - queuedAt > QUEUE_MS) throw givenUp(answer, hasBegun);
      until += now - askedAt; // waiting is free
      ports.held?.dropOldest();
      progress("every sandbox is busy; waiting for a free one");
      continue;
    }
    firstFaultAt ??= now;
    if (now - firstFaultAt > ports.patienceMs || now >= until) throw givenUp(answer, hasBegun); // associate/A5
    progress(`${answer.code}: ${answer.detail}; trying again. ${answer.remedy}`);
    await clock.sleep(retryDelayMs(attempt), stop);
  }
}

/** The fault, marked with `outage` when no part of the job was started. */
function givenUp(fault: AntiphonError, hasBegun: boolean): AntiphonError {
  const outage = !hasBegun && OUTAGES.has(fault.code);
  return new AntiphonError(fault.code, fault.detail, { data: { ...fault.data, outage }, cause: fault });
}

async function runOnce(
  job: Job,
  ports: AttemptPorts,
  leftMs: number,
  onProgress: (event: SandboxEvent) => void,
  { stop, giveUp }: Stops,
  { answers, messages }: Pick<JobCalls, "answers" | "messages">,
): Promise<JobEnd | AntiphonError> {
  const budget = new AbortController();
  const mayAsk = job.steps.some(({ asks }) => asks === true);
  const graceMs = BUDGET_GRACE_MS + (mayAsk ? limits.askHoldMs : 0);
  answers.clear();
  let timer: NodeJS.Timeout | undefined;
  const onEvent = (event: SandboxEvent): void => {
    // The task's budget runs from here on.
    if (event.kind === "started") timer ??= setTimeout(() => budget.abort(), leftMs + graceMs);
    onProgress(event);
  };
  const request: SandboxRequest = {
    ...job,
    steps: job.steps.map((step) => ({ ...step, timeoutMs: leftMs })),
    jobId: ports.newJobId(),
    budgetMs: leftMs,
  };
  const signal = AbortSignal.any([giveUp, budget.signal]);
  try {
    const patienceMs = Math.min(ports.patienceMs, QUEUE_MS);
    const outcome = await ports.sandbox.run(request, {
      signal,
      stop,
      patienceMs,
      answers,
      messages,
      onEvent,
    });
    return stop.aborted && outcome.outcome === "canceled" ? outcome : faultIn(outcome);
  } catch (thrown) {
    if (budget.signal.aborted && !stop.aborted) return "over-budget";
    return AntiphonError.from(thrown, "ANT_SANDBOX_FAILED");
  } finally {
    clearTimeout(timer);
  }
}

/** Turns an outcome that is the infrastructure's fault into that fault. A runner that stops cancels its jobs. */
function faultIn(outcome: SandboxOutcome): SandboxOutcome | AntiphonError {
  const hadSandbox = outcome.meta.containerId !== "";
  if (outcome.outcome === "canceled") {
    const detail = `the runner gave up: ${outcome.message}`;
    return new AntiphonError("ANT_SANDBOX_FAILED", detail, { data: { begun: hadSandbox } });
  }
  if (outcome.outcome !== "error") return outcome;
  const ending = endingOf(outcome, [], 0);
  if (ending.kind !== "stopped" || isOwnFault(ending.code)) return outcome;
  const begun = hadSandbox && !NO_NETWORK.has(ending.code);
  const data = { mayLive: ending.code === "ANT_SANDBOX_LEFT", begun };
  return new AntiphonError(ending.code, ending.message, { data });
}

function lineOf(event: SandboxEvent, plan: JobPlan): string | null {
  if (event.kind === "started") return `sandbox started in ${Math.round(event.bootMs)} ms`;
  if (event.kind !== "step") return null;
  const step = [...plan.work, ...plan.checks].find(({ id }) => id === event.id);
  if (step === undefined) return null;
  const how = event.exitCode === null ? "killed" : `exit ${event.exitCode}`;
  return `$ ${step.command.split("\n", 1)[0]?.slice(0, 120) ?? ""} (${how})`;
}
