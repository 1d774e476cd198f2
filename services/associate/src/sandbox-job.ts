/**
 * The sandbox part of an attempt: one job, run on whichever runner takes it; again when none did.
 *
 * Invariants:
 *   A14 An attempt has one container at a time (I8): when a runner that was given the job falls silent, nobody knows
 *       whether its container lives, so the attempt is abandoned and the next one has a number of its own. The same
 *       holds for a runner that could not remove it. Any other failure is told when the container is gone.
 *   A12 Waiting for a free sandbox is not counted against the task's budget: its clock runs while its job does.
 */
import { AntiphonError } from "@antiphon/contracts";
import type { SandboxEvent, SandboxOutcome, SandboxRequest } from "@antiphon/contracts";
import type { JobPlan } from "./core/attempt.ts";
import { endingOf } from "./core/ending.ts";
import { isOwnFault, retryDelayMs } from "./core/fault.ts";
import type { AttemptPorts, Change, ChangedFile, Overlays } from "./ports.ts";
import type { AttemptOrder } from "./work.ts";

/** Everything but what differs from try to try. */
export type Job = Omit<SandboxRequest, "jobId" | "budgetMs">;

/** Inline files up to this much travel in the request; more goes as a tar through the object store. */
const INLINE_BYTES = 128 * 1024;
/** The runner ends a job at its budget and says how; this long after it we stop waiting for its word. */
const BUDGET_GRACE_MS = 5000;
/** Nobody waits longer than this for a free sandbox. */
const QUEUE_MS = 15 * 60_000;

export async function jobOf(
  order: AttemptOrder,
  overlays: Overlays,
  plan: JobPlan,
  change: Change,
): Promise<Job> {
  const inline = change.files.reduce((sum, file) => sum + file.content.length, 0) <= INLINE_BYTES;
  return {
    run: order.runId,
    task: order.dispatch.task.task_id,
    epoch: order.epoch,
    purpose: "attempt",
    image: order.dispatch.image,
    workspace: {
      tree: order.dispatch.base.object,
      files: inline ? change.files.map(inlineFile) : [],
      overlay: inline ? null : await overlays.pack(change.files),
      deletions: [...change.deletions],
    },
    steps: [...plan.steps],
    ...egressOf(order),
    collect: plan.collectAfter !== null,
    ...(plan.collectAfter === null ? {} : { collectAfter: plan.collectAfter }),
  };
}

/** What the task may reach (seed 000), and what its model calls may cost. Nothing asked: no network. */
function egressOf({ dispatch }: AttemptOrder): Pick<Job, "egress"> {
  const { egress_profile: profile } = dispatch.task;
  if (profile.mode === "none") return {};
  return { egress: { profile, model_budget: dispatch.model_budget ?? null } };
}

function inlineFile({ path, mode, content }: ChangedFile): SandboxRequest["workspace"]["files"][number] {
  return { path, mode, content: content.toString("base64"), encoding: "base64" };
}

/** The outcome of the job, or that its budget ran out without one. Throws the fault that kept it from either. */
export async function runJob(
  job: Job,
  plan: JobPlan,
  ports: AttemptPorts,
  deadlineMs: number,
  stop: AbortSignal,
): Promise<SandboxOutcome | "over-budget"> {
  const { clock, progress } = ports;
  const queuedAt = clock.now();
  let until = deadlineMs;
  let firstFaultAt: number | null = null;
  for (let attempt = 0; ; attempt += 1) {
    const askedAt = clock.now();
    const answer = await runOnce(job, plan, ports, Math.max(1, until - askedAt), stop);
    if (!(answer instanceof AntiphonError)) return answer;
    if (stop.aborted || answer.disposition !== "retry") throw answer;
    if (answer.data["mayLive"] === true) throw answer; // A14
    const now = clock.now();
    if (answer.code === "ANT_SANDBOX_BUSY") {
      if (now - queuedAt > QUEUE_MS) throw answer;
      until += now - askedAt; // A12
      progress("every sandbox is busy; waiting for a free one");
      continue;
    }
    firstFaultAt ??= now;
    if (now - firstFaultAt > ports.patienceMs || now >= until) throw answer; // A5
    progress(`${answer.code}: ${answer.detail}; trying again. ${answer.remedy}`);
    await clock.sleep(retryDelayMs(attempt), stop);
  }
}

async function runOnce(
  job: Job,
  plan: JobPlan,
  ports: AttemptPorts,
  leftMs: number,
  stop: AbortSignal,
): Promise<SandboxOutcome | "over-budget" | AntiphonError> {
  const budget = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onEvent = (event: SandboxEvent): void => {
    // A12: from here on the task's own time is spent.
    if (event.kind === "accepted") timer ??= setTimeout(() => budget.abort(), leftMs + BUDGET_GRACE_MS);
    const line = lineOf(event, plan);
    if (line !== null) ports.progress(line);
  };
  const request: SandboxRequest = {
    ...job,
    steps: job.steps.map((step) => ({ ...step, timeoutMs: leftMs })),
    jobId: ports.newJobId(),
    budgetMs: leftMs,
  };
  const signal = AbortSignal.any([stop, budget.signal]);
  try {
    return faultIn(await ports.sandbox.run(request, { signal, patienceMs: ports.patienceMs, onEvent }));
  } catch (thrown) {
    if (budget.signal.aborted && !stop.aborted) return "over-budget";
    return AntiphonError.from(thrown, "ANT_SANDBOX_FAILED");
  } finally {
    clearTimeout(timer);
  }
}

/** An outcome that is the infrastructure's fault, as that fault. A runner that stops cancels what it has. */
function faultIn(outcome: SandboxOutcome): SandboxOutcome | AntiphonError {
  if (outcome.outcome === "canceled")
    return new AntiphonError("ANT_SANDBOX_FAILED", `the runner gave up: ${outcome.message}`);
  if (outcome.outcome !== "error") return outcome;
  const ending = endingOf(outcome, [], 0);
  if (ending.kind !== "stopped" || isOwnFault(ending.code)) return outcome;
  return new AntiphonError(ending.code, ending.message, {
    data: { mayLive: ending.code === "ANT_SANDBOX_LEFT" },
  });
}

function lineOf(event: SandboxEvent, plan: JobPlan): string | null {
  if (event.kind === "started") return `sandbox started in ${Math.round(event.bootMs)} ms`;
  if (event.kind !== "step") return null;
  const step = [...plan.work, ...plan.checks].find(({ id }) => id === event.id);
  if (step === undefined) return null;
  const how = event.exitCode === null ? "killed" : `exit ${event.exitCode}`;
  return `$ ${step.command.split("\n", 1)[0]?.slice(0, 120) ?? ""} (${how})`;
}
