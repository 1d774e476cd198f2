/**
 * Folds one record into the state of a task. No other code changes a task. A record that may not change the task
 * (stale epoch, wrong phase, terminal task) gives `refused` with the reason; the service logs the reason.
 *
 * Because an attempt that never had a sandbox says nothing about the task, it does not count as a lost attempt: the task
 * waits with backoff, and after limits.maxOutages it fails with the code of the outage (associate/A5).
 *
 * Promises:
 *   run/R10 Because a yes is about one change, an approval, one from each person and none from who asked for it, counts
 *     only for the change, the workspace and the policy that was looked at, and a skill's word only while the change
 *     that it judged waits; a reject before the last approval keeps the change from ever landing.
 */
import { limits, ownerOf } from "@antiphon/contracts";
import type {
  ApprovalBody,
  DueBody,
  Feedback,
  LandingBody,
  ResultBody,
  StoredRecord,
  VerdictBody,
} from "@antiphon/contracts";
import { approvalsNeeded, type Asked } from "@antiphon/contracts/runs/step-approval";
import type { RunPolicy, TaskPhase, TaskState } from "../state/run-state.ts";

const TASK_TYPES = ["dispatch", "claim", "result", "verdict", "landing", "input", "approval", "due"] as const;
type TaskType = (typeof TASK_TYPES)[number];
type RecordOf<T extends TaskType> = Extract<StoredRecord, { type: T }>;
export type TaskRecord = RecordOf<TaskType>;

export function isTaskRecord(record: StoredRecord): record is TaskRecord {
  return (TASK_TYPES as readonly string[]).includes(record.type);
}

export type TaskStep = { kind: "next"; task: TaskState } | { kind: "refused"; reason: string };

/** Verdicts that another attempt cannot improve: a check or a grant is missing, so a better patch does not help. */
const FINAL_CODES: ReadonlySet<string> = new Set([
  "ANT_SERVICE_FAILED",
  "ANT_VERIFY_CRITERION",
  "ANT_VERIFY_NO_CHECK",
  "ANT_VERIFY_PROVES_NOTHING",
]);

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

export function foldTask(task: TaskState, event: TaskRecord, policy: RunPolicy, rule: Asked): TaskStep {
  const { phase } = task;
  const epoch = event.type === "approval" ? event.body.attempt : event.epoch; // Approvals are numbered by the run.
  if (phase.kind === "done" || phase.kind === "failed") return refused(`the task is ${phase.kind}`); // run/R3
  if (epoch !== phase.epoch) {
    return refused(`epoch ${epoch} is not the current epoch ${phase.epoch}`); // run/R2
  }
  switch (event.type) {
    case "dispatch":
      if (phase.kind !== "open") break;
      return to(given(task, event.body), dispatched(phase.epoch, event));
    case "claim":
      if (phase.kind !== "dispatched") break;
      return to(task, { ...phase, kind: "claimed", at: event.at, associate: event.body.associate });
    case "result":
      if (phase.kind !== "dispatched" && phase.kind !== "claimed") break;
      return afterResult(task, phase, event, policy);
    case "verdict":
      if (phase.kind === "open" && event.body.verdict !== "PASS") {
        // The Director could not dispatch the task: the repository is gone or cannot be set up, or no agent has a model.
        const { code, message, evidence, asks } = event.body;
        if (asks !== undefined) return to(task, asking(phase.epoch, event, asks));
        const seen = evidence === null ? task : { ...task, evidence: [...task.evidence, evidence] };
        return to(seen, failed(phase.epoch, code ?? "ANT_INTERNAL", message));
      }
      if (phase.kind !== "proposed") break;
      return afterVerdict(task, phase, event, policy, rule);
    case "landing":
      // The branch holds the commit already, also where these rules do not know why the Director landed it.
      if (phase.kind !== "accepted" && phase.kind !== "awaiting") break;
      return afterLanding(task, phase, event.body);
    case "input":
      if (phase.kind !== "asking") break;
      return afterInput(task, phase, event, policy);
    case "approval":
      if (phase.kind !== "awaiting") break;
      return afterApproval(task, phase, event, policy, rule);
    case "due":
      return afterDue(task, event.body);
  }
  return refused(`a ${event.type} record does not fit a task that is ${phase.kind}`);
}

function dispatched(epoch: number, { body, at }: RecordOf<"dispatch">): TaskPhase {
  return { kind: "dispatched", epoch, base: body.base.commit, at };
}

function asking(
  epoch: number,
  { at, body }: RecordOf<"verdict">,
  asks: NonNullable<VerdictBody["asks"]>,
): TaskPhase {
  const { code, message } = body;
  const criteria = { asks, code: code ?? "ANT_VERIFY_NO_CHECK", message };
  return { kind: "asking", epoch, at, questions: asks.map(({ question }) => question), criteria };
}

function given(task: TaskState, { gate }: RecordOf<"dispatch">["body"]): TaskState {
  if (gate === undefined) return task;
  const { attempt, integration = null } = gate;
  return { ...task, judges: { attempt, integration } };
}

function afterResult(
  task: TaskState,
  phase: Extract<TaskPhase, { kind: "dispatched" | "claimed" }>,
  event: RecordOf<"result">,
  policy: RunPolicy,
): TaskStep {
  const { body } = event;
  if (body.kind === "abandoned" && body.outage === true) return afterOutage(task, event, body, policy);
  if (body.kind !== "reported") return afterLoss(task, event, body, policy);
  const seen = { ...task, evidence: [...task.evidence, body.evidence] };
  switch (body.result.status) {
    case "ok":
      return to(seen, {
        kind: "proposed",
        epoch: phase.epoch,
        base: phase.base,
        seq: event.seq,
        at: event.at,
        report: body,
      });
    case "needs_input":
      return to(seen, {
        kind: "asking",
        epoch: phase.epoch,
        at: event.at,
        questions: body.result.questions.map(questionText),
      });
    case "failed":
      if (FINAL_FAILURES.has(body.code ?? ""))
        return to(seen, failed(phase.epoch, body.code ?? "", body.result.summary));
      return reject(seen, policy, {
        epoch: phase.epoch,
        code: body.code ?? "ANT_VERIFY_SELF_FAILED",
        message: body.result.summary,
        checks: [],
      });
  }
}

function afterLoss(
  task: TaskState,
  { epoch, at }: TaskRecord,
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
  if (lapses < 2) return to({ ...task, lapses }, { kind: "open", epoch: epoch + 1 });
  return to({ ...task, lapses }, backoff(epoch, at, lapses - 2, policy));
}

/** associate/A5: an attempt that never ran cannot have crashed its Associate, so the task is not poison. */
function afterOutage(
  task: TaskState,
  { epoch, at }: TaskRecord,
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

function afterVerdict(
  task: TaskState,
  phase: Extract<TaskPhase, { kind: "proposed" }>,
  event: RecordOf<"verdict">,
  policy: RunPolicy,
  rule: Asked,
): TaskStep {
  const { body, digest } = event;
  const seen = body.evidence === null ? task : { ...task, evidence: [...task.evidence, body.evidence] };
  if (body.verdict === "PASS") {
    if (body.commit === null)
      return to(seen, { kind: "done", epoch: phase.epoch, commit: null, left: phase.base, verdict: body });
    const { gates = [] } = body;
    const verified = { epoch: phase.epoch, report: phase.report, at: event.at, verdict: body };
    return decided(seen, { kind: "awaiting", ...verified, digest, approvedBy: [], gates }, rule);
  }
  const code = body.code ?? "ANT_VERIFY_CHECK_FAILED";
  if (FINAL_CODES.has(code)) return to(seen, failed(phase.epoch, code, body.message));
  return reject(seen, policy, { epoch: phase.epoch, code, message: body.message, checks: body.checks });
}

function afterLanding(
  task: TaskState,
  phase: Extract<TaskPhase, { kind: "accepted" | "awaiting" }>,
  body: LandingBody,
): TaskStep {
  if (body.kind === "refused") return to(task, failed(phase.epoch, body.code, body.message));
  const { commit } = body;
  return to(task, { kind: "done", epoch: phase.epoch, commit, left: commit, verdict: phase.verdict });
}

function afterInput(
  task: TaskState,
  phase: Extract<TaskPhase, { kind: "asking" }>,
  event: RecordOf<"input">,
  policy: RunPolicy,
): TaskStep {
  const { body } = event;
  if (body.event === "approval" && body.choice === "reject")
    return to(task, rejected(phase.epoch, event.at, body));
  if (body.event === "approval" && body.choice === "changes")
    return reject(task, policy, changes(phase.epoch, body));
  // The check goes to all tasks that lack one (criteria-fold.ts). The agent did not ask, so it is not told.
  if (phase.criteria !== undefined) return to(task, { kind: "open", epoch: phase.epoch + 1 });
  const given = body.answers.length > 0 ? body.answers : [body.choice ?? body.event];
  const answers = phase.questions.map((question, i) => ({ question, answer: given[i] ?? given[0] ?? "" }));
  return to({ ...task, answers: [...task.answers, ...answers] }, { kind: "open", epoch: phase.epoch + 1 });
}

function afterApproval(
  task: TaskState,
  phase: Extract<TaskPhase, { kind: "awaiting" }>,
  { body, at }: RecordOf<"approval">,
  policy: RunPolicy,
  rule: Asked,
): TaskStep {
  const { epoch, digest, approvedBy } = phase;
  if (body.verdict !== digest) return refused(`${body.verdict} is not the verdict that waits`); // run/R10
  if (body.choice === "reject") return to(task, rejected(epoch, at, body));
  if (body.choice === "changes") return reject(task, policy, changes(epoch, body));
  if (ownerOf(body.by, rule.askers) !== undefined) return refused(`an approval of ${body.by} does not count`);
  if (approvedBy.includes(body.by)) return refused(`${body.by} has approved before`);
  return decided(task, { ...phase, at, approvedBy: [...approvedBy, body.by] }, rule);
}

/** run/R10: a verified change lands when nobody is left who has to decide about it. */
function decided(task: TaskState, phase: Extract<TaskPhase, { kind: "awaiting" }>, rule: Asked): TaskStep {
  const { epoch, report, at, verdict, approvedBy, gates } = phase;
  return gates.length > 0 || approvedBy.length < approvalsNeeded(rule, verdict)
    ? to(task, phase)
    : to(task, { kind: "accepted", epoch, report, at, verdict });
}

/** What a skill found about the task's change. `gate`: its task. */
export function afterGate(
  task: TaskState,
  { gate, at, body }: { readonly gate: string; readonly at: Date; readonly body: VerdictBody },
  policy: RunPolicy,
  rule: Asked,
): TaskStep {
  const { phase } = task;
  if (phase.kind !== "awaiting") return refused(`a task that is ${phase.kind} waits for no skill`);
  if (body.verdict === "PASS")
    return decided(task, { ...phase, at, gates: phase.gates.filter((one) => one !== gate) }, rule);
  const code = body.code ?? "ANT_GATE_BLOCKED";
  return reject(task, policy, { epoch: phase.epoch, code, message: body.message, checks: [] });
}

type PersonsWord = Pick<ApprovalBody, "by" | "reason">;

function rejected(epoch: number, at: Date, { by, reason = "" }: PersonsWord): TaskPhase {
  const why = reason.trim() === "" ? "no reason given" : reason;
  return failed(epoch, "ANT_TASK_REJECTED", `rejected by ${by} at ${at.toISOString()}: ${why}`);
}

function changes(epoch: number, { by, reason = "" }: PersonsWord): Feedback {
  return { epoch, code: "ANT_TASK_CHANGES_ASKED", message: `${by} asks for changes: ${reason}`, checks: [] };
}

function afterDue(task: TaskState, body: DueBody): TaskStep {
  const { phase } = task;
  if (body.kind === "rest" && phase.kind === "resting")
    return to(task, { kind: "open", epoch: phase.epoch + 1 });
  if (body.kind === "question" && phase.kind === "asking") {
    const { criteria } = phase;
    if (criteria !== undefined) {
      const message = `${criteria.message}; nobody answered in time`;
      return to(task, failed(phase.epoch, criteria.code, message));
    }
    const asked = phase.questions.join("; ");
    return to(task, failed(phase.epoch, "ANT_TASK_UNANSWERED", `nobody answered in time: ${asked}`));
  }
  return refused(`a task that is ${phase.kind} does not wait for the end of a ${body.kind}`);
}

/** A backoff that doubles with each loss, up to limits.lapseRestMaxMs. */
function backoff(
  epoch: number,
  from: Date,
  before: number,
  { restMs = limits.lapseRestMs }: RunPolicy,
): TaskPhase {
  const ms = Math.min(limits.lapseRestMaxMs, restMs * 2 ** before);
  return { kind: "resting", epoch, until: new Date(from.getTime() + ms) };
}

function reject(task: TaskState, policy: RunPolicy, feedback: Feedback): TaskStep {
  const next = { ...task, rejections: task.rejections + 1, feedback: [...task.feedback, feedback] };
  if (next.rejections >= policy.maxAttempts) {
    const attempts = next.rejections === 1 ? "1 attempt" : `${next.rejections} attempts`;
    return to(next, failed(feedback.epoch, feedback.code, `after ${attempts}: ${feedback.message}`));
  }
  return to(next, { kind: "open", epoch: feedback.epoch + 1 });
}

function questionText(question: unknown): string {
  return typeof question === "string" ? question : JSON.stringify(question);
}

function failed(epoch: number, code: string, message: string): TaskPhase {
  return { kind: "failed", epoch, code, message };
}

function to(task: TaskState, phase: TaskPhase): TaskStep {
  return { kind: "next", task: { ...task, phase } };
}

function refused(reason: string): TaskStep {
  return { kind: "refused", reason };
}
