/** Folds one record into the state of a run. `foldTask` handles the records of a task. */
import type { LandingBody, StoredRecord, VerdictBody } from "@antiphon/contracts";
import { approvalRuleOf, type Integration, type RunPolicy, type RunState } from "../state/run-state.ts";
import { foldTask, type TaskEvent } from "./task-fold.ts";

export function foldRun(state: RunState, record: StoredRecord, policy: RunPolicy): RunState {
  const seen: RunState = {
    ...state,
    lastSeq: record.seq,
    digests: [...state.digests, record.digest],
    refused: null,
  };
  if (record.taskId !== null) return foldTaskRecord(seen, record, policy);
  switch (record.type) {
    case "intent":
      return { ...seen, intent: record.body, openedAt: record.at, head: record.body.base.commit };
    case "routed":
      return {
        ...seen,
        routed: record.body,
        tasks: record.body.tasks.map((planned) => ({
          planned,
          phase: { kind: "open", epoch: 1 },
          rejections: 0,
          lapses: 0,
          outages: 0,
          feedback: [],
          answers: [],
          evidence: [],
        })),
        integration:
          seen.intent?.options.land_on === undefined ? { kind: "none" } : { kind: "open", epoch: 1 },
      };
    case "cancel":
      return { ...seen, cancel: record.body };
    case "control":
      return { ...seen, control: { n: record.epoch, kind: record.body.kind } };
    case "approval":
      return foldApproval(seen, record, policy);
    case "requeue":
      return seen; // It only wakes the Director; the state stays the same.
    case "verdict":
      return {
        ...seen,
        integration: integrationVerdict(seen, record.epoch, record.body, record.at),
      };
    case "landing":
      return {
        ...seen,
        integration: integrationLanding(seen.integration, record.epoch, record.body, policy),
      };
    case "closed":
      return { ...seen, closed: record.body };
    default:
      return { ...seen, refused: { seq: record.seq, reason: `a ${record.type} record needs a task` } };
  }
}

function foldTaskRecord(state: RunState, record: StoredRecord, policy: RunPolicy): RunState {
  const index = state.tasks.findIndex((task) => task.planned.task.task_id === record.taskId);
  if (index === -1) {
    return { ...state, refused: { seq: record.seq, reason: `the run has no task ${record.taskId}` } };
  }
  const event = taskEvent(record);
  if (event === null) {
    return { ...state, refused: { seq: record.seq, reason: `${record.type} is not a record of a task` } };
  }
  const next = foldTaskEvent(state, index, event, policy);
  if (next.refused !== null || record.type !== "landing" || record.body.kind !== "landed") return next;
  return { ...next, head: record.body.commit };
}

/** Approvals are numbered by the run, so the body names the attempt. */
function foldApproval(
  state: RunState,
  { seq, at, digest, body }: Extract<StoredRecord, { type: "approval" }>,
  policy: RunPolicy,
): RunState {
  const index = state.tasks.findIndex((task) => task.planned.task.task_id === body.task);
  const event: TaskEvent = { seq, at, digest, epoch: body.attempt, type: "approval", body };
  if (index === -1) return { ...state, refused: { seq, reason: `the run has no task ${body.task}` } };
  return foldTaskEvent(state, index, event, policy);
}

function foldTaskEvent(state: RunState, index: number, event: TaskEvent, policy: RunPolicy): RunState {
  const task = state.tasks[index];
  if (task === undefined) return state;
  const step = foldTask(task, event, policy, approvalRuleOf(state));
  if (step.kind === "refused") return { ...state, refused: { seq: event.seq, reason: step.reason } };
  return { ...state, tasks: state.tasks.with(index, step.task) };
}

function taskEvent(record: StoredRecord): TaskEvent | null {
  const { seq, at, epoch, digest } = record;
  switch (record.type) {
    case "dispatch":
      return { seq, at, epoch, digest, type: record.type, body: record.body };
    case "claim":
      return { seq, at, epoch, digest, type: record.type, body: record.body };
    case "result":
      return { seq, at, epoch, digest, type: record.type, body: record.body };
    case "verdict":
      return { seq, at, epoch, digest, type: record.type, body: record.body };
    case "landing":
      return { seq, at, epoch, digest, type: record.type, body: record.body };
    case "input":
      return { seq, at, epoch, digest, type: record.type, body: record.body };
    case "due":
      return { seq, at, epoch, digest, type: record.type, body: record.body };
    default:
      return null;
  }
}

function integrationVerdict(run: RunState, epoch: number, body: VerdictBody, at: Date): Integration {
  const now = run.integration;
  if (now.kind !== "open" || now.epoch !== epoch) return now;
  if (body.verdict === "PASS" && approvalRuleOf(run).needed > 0 && body.commit !== run.head) {
    const message = `the branch moved, so another commit than the approved ${run.head} would land`;
    return { kind: "refused", epoch, code: "ANT_APPROVAL_STALE", message }; // run/R10
  }
  if (body.verdict === "PASS") return { kind: "accepted", epoch, verdict: body, at };
  return { kind: "refused", epoch, code: body.code ?? "ANT_VERIFY_CHECK_FAILED", message: body.message };
}

function integrationLanding(
  now: Integration,
  epoch: number,
  body: LandingBody,
  policy: RunPolicy,
): Integration {
  if (now.kind !== "accepted" || now.epoch !== epoch) return now;
  if (body.kind === "landed") return { kind: "landed", epoch, commit: body.commit, ref: body.ref };
  if (body.code === "ANT_LANDING_HEAD_MOVED" && epoch < policy.maxIntegrations) {
    return { kind: "open", epoch: epoch + 1 }; // run/R5: the branch moved, so the verified commit is not the one that would land.
  }
  return { kind: "refused", epoch, code: body.code, message: body.message };
}
