/**
 * The sandbox part of an attempt: one job, on any runner that takes it. After an infrastructure fault it is tried again.
 *
 * Waiting for a free sandbox does not spend the task's budget. The wait is limited, so that the claim does not expire
 * meanwhile. A fault says `outage` when no sandbox was available and none was ever started for the job.
 *
 * Because a runner that falls silent, or cannot remove its container, may leave that container running, the attempt is then
 * abandoned instead of tried again, so an attempt never has two containers at once (associate/A1).
 */
import { AntiphonError, type SandboxEvent } from "@antiphon/contracts";
import type { AttemptPorts } from "../ports.ts";
import type { JobPlan } from "./attempt.ts";
import type { Stops } from "./attempt-order.ts";
import { isOutage, retryDelayMs } from "./fault.ts";
import { NO_ANSWER } from "./going-on-script.ts";
import { questionOf } from "./going-on.ts";
import type { Job } from "./job-request.ts";
import { QUEUE_MS, tryJob } from "./job-try.ts";
import type { JobCalls, JobEnd } from "./running-job.ts";

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
    const answer = await tryJob(job, ports, Math.max(1, until - askedAt), onEvent, stops, calls);
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
  const outage = !hasBegun && isOutage(fault.code);
  return new AntiphonError(fault.code, fault.detail, { data: { ...fault.data, outage }, cause: fault });
}

function lineOf(event: SandboxEvent, plan: JobPlan): string | null {
  if (event.kind === "started") return `sandbox started in ${Math.round(event.bootMs)} ms`;
  if (event.kind !== "step") return null;
  const step = [...plan.work, ...plan.checks].find(({ id }) => id === event.id);
  if (step === undefined) return null;
  const how = event.exitCode === null ? "killed" : `exit ${event.exitCode}`;
  return `$ ${step.command.split("\n", 1)[0]?.slice(0, 120) ?? ""} (${how})`;
}
