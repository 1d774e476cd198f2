/**
 * One try of a sandbox job, on one runner. An outcome that is the fault of the infrastructure becomes that fault, whose data says
 * how far the job came: `begun`, a sandbox was started for it; `mayLive`, its container may still run.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import type { SandboxEvent, SandboxOutcome, SandboxRequest } from "@antiphon/contracts";
import type { AttemptPorts } from "../ports.ts";
import type { Stops } from "./attempt-order.ts";
import { endingOf } from "./ending.ts";
import { isOwnFault, isWithoutNetwork } from "./fault.ts";
import type { Job } from "./job-request.ts";
import type { JobCalls, JobEnd } from "./running-job.ts";

/** The runner ends a job at its budget, then reads its changes. This long after that, the attempt stops waiting for them. */
const BUDGET_GRACE_MS = 15_000;
/** The longest wait for a free sandbox: half of the time that a claim has beyond the task's budget. */
export const QUEUE_MS = (limits.claimGraceS * 1000) / 2;

/** `over-budget` when the time ran out without an outcome. */
export async function tryJob(
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
  const begun = hadSandbox && !isWithoutNetwork(ending.code);
  const data = { mayLive: ending.code === "ANT_SANDBOX_LEFT", begun };
  return new AntiphonError(ending.code, ending.message, { data });
}
