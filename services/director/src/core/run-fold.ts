/**
 * One run, one record, the next run state. Task records go to `foldTask`; the rest is here.
 */
import type { LandingBody, StoredRecord, VerdictBody } from "@antiphon/contracts";
import type { Integration, RunPolicy, RunState } from "./run-state.ts";
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
    case "requeue":
      return seen; // It makes somebody look again, and changes nothing by itself.
    case "verdict":
      return {
        ...seen,
        integration: integrationVerdict(seen.integration, record.epoch, record.body, record.at),
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
  const task = state.tasks[index];
  if (task === undefined) {
    return { ...state, refused: { seq: record.seq, reason: `the run has no task ${record.taskId}` } };
  }
  const event = taskEvent(record);
  if (event === null) {
    return { ...state, refused: { seq: record.seq, reason: `${record.type} is not a record of a task` } };
  }
  const step = foldTask(task, event, policy);
  if (step.kind === "refused") return { ...state, refused: { seq: record.seq, reason: step.reason } };
  return {
    ...state,
    head: record.type === "landing" && record.body.kind === "landed" ? record.body.commit : state.head,
    tasks: state.tasks.with(index, step.task),
  };
}

function taskEvent(record: StoredRecord): TaskEvent | null {
  const { seq, at, epoch } = record;
  switch (record.type) {
    case "dispatch":
      return { seq, at, epoch, type: record.type, body: record.body };
    case "claim":
      return { seq, at, epoch, type: record.type, body: record.body };
    case "result":
      return { seq, at, epoch, type: record.type, body: record.body };
    case "verdict":
      return { seq, at, epoch, type: record.type, body: record.body };
    case "landing":
      return { seq, at, epoch, type: record.type, body: record.body };
    case "input":
      return { seq, at, epoch, type: record.type, body: record.body };
    case "due":
      return { seq, at, epoch, type: record.type, body: record.body };
    default:
      return null;
  }
}

function integrationVerdict(now: Integration, epoch: number, body: VerdictBody, at: Date): Integration {
  if (now.kind !== "open" || now.epoch !== epoch) return now;
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
    return { kind: "open", epoch: epoch + 1 }; // L3: the branch moved, so what was verified is no longer what would land.
  }
  return { kind: "refused", epoch, code: body.code, message: body.message };
}
