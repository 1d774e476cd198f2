/**
 * What the end of an attempt makes of its task: a proposal, a question, a failure, or another attempt after a loss.
 *
 * Because an attempt that never had a sandbox says nothing about the task, it does not count as a lost attempt: the task
 * waits with backoff, and after limits.maxOutages it fails with the code of the outage (associate/A5).
 */
import type { ResultBody } from "@antiphon/contracts";
import type { RunPolicy, TaskState } from "../state/run-state.ts";
import type { RecordOf } from "./task-record.ts";
import {
  backoff,
  failed,
  nextAttempt,
  reject,
  to,
  withEvidence,
  type PhaseOf,
  type TaskStep,
} from "./task-step.ts";

/** Failures that another attempt cannot improve: the run asks for what the deployment does not have, or has no money left. */
const FINAL_FAILURES: ReadonlySet<string> = new Set([
  "ANT_EGRESS_BUDGET",
  "ANT_ENVIRONMENT_FAILED",
  "ANT_REPLAY_NO_RECORD",
  "ANT_VERIFY_NO_PROGRAM",
  "ANT_SANDBOX_IMAGE_NOT_ALLOWED",
  "ANT_SANDBOX_IMAGE_UNUSABLE",
  "ANT_SERVICE_FAILED",
  "ANT_TASK_GIT_FAILED",
]);

type Result = RecordOf<"result">;

export function afterResult(
  task: TaskState,
  { epoch, base }: PhaseOf<"dispatched" | "claimed">,
  { body, seq, at }: Result,
  policy: RunPolicy,
): TaskStep {
  if (body.kind === "abandoned" && body.outage === true)
    return afterOutage(task, { epoch, at }, body, policy);
  if (body.kind !== "reported") return afterLoss(task, { epoch, at }, body, policy);
  const { result, code } = body;
  const seen = withEvidence(task, body.evidence);
  switch (result.status) {
    case "ok":
      return to(seen, { kind: "proposed", epoch, base, seq, at, report: body });
    case "needs_input":
      return to(seen, { kind: "asking", epoch, at, questions: result.questions.map(questionText) });
    case "failed": {
      const message = result.summary;
      if (code != null && FINAL_FAILURES.has(code)) return to(seen, failed(epoch, code, message));
      return reject(seen, policy, { epoch, code: code ?? "ANT_VERIFY_SELF_FAILED", message, checks: [] });
    }
  }
}

function afterLoss(
  task: TaskState,
  { epoch, at }: Pick<Result, "epoch" | "at">,
  body: Exclude<ResultBody, { kind: "reported" }>,
  policy: RunPolicy,
): TaskStep {
  const lapses = task.lapses + 1;
  const message =
    body.kind === "lapsed" ? `the claim of ${body.holder} lapsed` : `${body.code}: ${body.message}`;
  if (lapses > policy.maxLapses) {
    const given = `given up after ${lapses} lost attempts; last: ${message}`;
    return to({ ...task, lapses }, failed(epoch, "ANT_TASK_POISON", given));
  }
  // The first loss may be bad luck, so the retry starts at once.
  if (lapses < 2) return to({ ...task, lapses }, nextAttempt(epoch));
  return to({ ...task, lapses }, backoff(epoch, at, lapses - 2, policy));
}

/** associate/A5: an attempt that never ran cannot have crashed its Associate, so the task is not poison. */
function afterOutage(
  task: TaskState,
  { epoch, at }: Pick<Result, "epoch" | "at">,
  body: Extract<ResultBody, { kind: "abandoned" }>,
  policy: RunPolicy,
): TaskStep {
  const outages = task.outages + 1;
  if (outages > policy.maxOutages) {
    const message = `no sandbox in ${outages} attempts; last: ${body.message}`;
    return to({ ...task, outages }, failed(epoch, body.code, message));
  }
  return to({ ...task, outages }, backoff(epoch, at, outages - 1, policy));
}

function questionText(question: unknown): string {
  return typeof question === "string" ? question : JSON.stringify(question);
}
