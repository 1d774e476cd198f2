/**
 * The view of a run for people: a pure projection of its records in stream order. Any prefix of the records gives a
 * view, so a view can be rebuilt at any time.
 *
 * Lifecycle: queued -> running <-> waiting_input -> succeeded | failed | canceled.
 *
 * A record of an older epoch still adds its artifacts. An answer or approval changes only the step it is about.
 */
import { BUCKETS } from "@antiphon/contracts/topology/topology";
import type {
  Choice,
  JournalRecord,
  JournalType,
  BlobRef,
  RunArtifact,
  RunStep,
  RunViewModel,
} from "@antiphon/contracts";
import { afterWord, openApproval, type Asked } from "@antiphon/contracts/runs/step-approval";

/** A record as it is read back. Over HTTP, `at` is a string. */
export type ViewedRecord = JournalRecord & { readonly digest: string; readonly at: Date | string };
type Viewed<T extends JournalType> = Extract<ViewedRecord, { type: T }>;

type View = {
  runId: string;
  status: RunViewModel["status"];
  steps: Map<string, RunStep>;
  artifacts: RunArtifact[];
  paused: boolean;
  /** Tasks with a dispatched attempt: a pause does not hold these back. */
  out: Set<string>;
  /** Lost attempts of each task: from the second loss on, the next attempt waits for a backoff. */
  lost: Map<string, number>;
  asked: Asked;
};

/** run/R1 */
export function runView(records: readonly ViewedRecord[]): RunViewModel {
  const view: View = {
    runId: records[0]?.runId ?? "",
    status: "queued",
    steps: new Map(),
    artifacts: [],
    paused: false,
    out: new Set(),
    lost: new Map(),
    asked: { requester: "", needed: 0 },
  };
  for (const record of records) {
    if (isOver(view)) break; // run/R3
    apply(view, record);
  }
  return {
    runId: view.runId,
    status: view.status,
    steps: [...view.steps.values()].map((step) =>
      view.paused && !view.out.has(step.id) ? held(step) : step,
    ),
    artifacts: view.artifacts,
  };
}

const isOver = ({ status }: View): boolean =>
  status === "succeeded" || status === "failed" || status === "canceled";

function apply(view: View, record: ViewedRecord): void {
  switch (record.type) {
    case "intent":
      view.asked = {
        requester: record.body.principal,
        needed: record.body.options.approvals?.needed ?? 0,
      };
      return;
    case "cancel":
    case "requeue":
    case "archived":
    case "restored":
      return;
    case "due":
      return due(view, record);
    case "control":
      view.paused = record.body.kind === "pause";
      return;
    case "routed":
      return routed(view, record);
    case "input":
      return answered(view, record);
    case "approval":
      return approved(view, record);
    case "closed":
      view.status = record.body.status;
      view.paused = false;
      for (const step of view.steps.values()) settle(step);
      return;
    case "dispatch":
    case "claim":
    case "result":
    case "verdict":
    case "landing":
      return attempt(view, record);
  }
}

/** The status of a run has no value for a pause (seed 002), so its steps show it. */
function held(step: RunStep): RunStep {
  return step.phase === "ready" ? { ...step, phase: "paused" } : step;
}

/** True while people hold the run. A closed run is not paused. */
export function isPaused(records: readonly JournalRecord[]): boolean {
  const last = records.findLast(({ type }) => type === "control" || type === "closed");
  return last?.type === "control" && last.body.kind === "pause";
}

function routed(view: View, record: Viewed<"routed">): void {
  view.status = "running";
  for (const { task, deps } of record.body.tasks) {
    view.steps.set(task.task_id, {
      id: task.task_id,
      title: task.instruction,
      kind: task.kind,
      status: "open",
      phase: deps.length === 0 ? "ready" : "blocked",
      epoch: 0,
      attempts: 0,
      deps: [...deps],
      verdict: null,
      code: null,
      message: null,
      commit: null,
      questions: [],
      associate: null,
    });
  }
  view.artifacts.push(inBucket("Plan", view.runId, null, 0, "Router contract", `${view.runId}.router`));
}

function answered(view: View, { taskId, body, at }: Viewed<"input">): void {
  const step = taskId === null ? undefined : view.steps.get(taskId);
  if (step?.phase !== "waiting_input" || step.approval?.state === "pending") return;
  Object.assign(step, { phase: "ready", questions: [] });
  if (body.event === "approval" && (body.choice === "reject" || body.choice === "changes"))
    turnedDown(step, { ...body, choice: body.choice, at: timeOf(at) });
  goesOn(view);
}

function approved(view: View, { body, at }: Viewed<"approval">): void {
  const step = view.steps.get(body.task);
  if (step?.phase !== "waiting_input" || step.approval === undefined || step.epoch !== body.attempt) return;
  const before = step.approval;
  step.approval = afterWord(before, body, timeOf(at), view.asked);
  const { state, commit } = step.approval;
  if (state === "pending") return;
  if (state === "approved") Object.assign(step, { phase: "landing", commit, questions: [] });
  else {
    Object.assign(step, { phase: "ready", questions: [] });
    turnedDown(step, { ...body, at: timeOf(at) });
  }
  goesOn(view);
}

type TurnedDown = { choice: Choice; by: string; at: string; reason?: string };

function turnedDown(step: RunStep, { choice, by, at, reason = "" }: TurnedDown): void {
  const why = reason.trim() === "" ? "no reason given" : reason;
  if (choice === "reject") {
    const message = `rejected by ${by} at ${at}: ${why}`;
    Object.assign(step, { status: "failed", phase: "finished", code: "ANT_TASK_REJECTED", message });
  } else {
    const message = `${by} asked for changes at ${at}: ${why}`;
    Object.assign(step, { status: "open", code: "ANT_TASK_CHANGES_ASKED", message });
  }
}

const timeOf = (at: Date | string): string => (typeof at === "string" ? at : at.toISOString());

/** A run waits as long as one of its steps waits. */
function goesOn(view: View): void {
  const waits = [...view.steps.values()].some(({ phase }) => phase === "waiting_input");
  view.status = waits ? "waiting_input" : "running";
}

/** A run that is over has no step under way. */
function settle(step: RunStep): void {
  if (step.status !== "done") step.status = "failed";
  step.phase = "finished";
}

type AttemptRecord = Viewed<"dispatch" | "claim" | "result" | "verdict" | "landing">;

function attempt(view: View, record: AttemptRecord): void {
  const step = record.taskId === null ? undefined : view.steps.get(record.taskId);
  if (step === undefined) return;
  artifactsOf(view, record, step);
  if (record.epoch < step.epoch) return; // run/R2
  switch (record.type) {
    case "dispatch":
      view.out.add(step.id);
      Object.assign(step, {
        epoch: record.epoch,
        status: "open",
        phase: "ready",
        verdict: null,
        associate: null,
      });
      delete step.approval;
      return;
    case "claim":
      Object.assign(step, { phase: "claimed", associate: record.body.associate });
      return;
    case "result":
      view.out.delete(step.id);
      return resulted(view, record, step);
    case "verdict":
      return judged(view, record, step);
    case "landing":
      return landed(view, record, step);
  }
}

function due(view: View, record: Viewed<"due">): void {
  const step = record.taskId === null ? undefined : view.steps.get(record.taskId);
  if (step?.phase === "resting" && record.body.kind === "rest") step.phase = "ready";
}

function lostPhase(view: View, { id }: RunStep): RunStep["phase"] {
  const times = (view.lost.get(id) ?? 0) + 1;
  view.lost.set(id, times);
  return times < 2 ? "ready" : "resting";
}

function resulted(view: View, record: Viewed<"result">, step: RunStep): void {
  const { body } = record;
  if (body.kind === "lapsed") {
    Object.assign(step, {
      phase: lostPhase(view, step),
      code: "ANT_TASK_LAPSED",
      message: `${body.holder} went silent`,
    });
    return;
  }
  if (body.kind === "abandoned") {
    const phase = body.outage === true ? "resting" : lostPhase(view, step);
    Object.assign(step, { phase, code: body.code, message: body.message });
    return;
  }
  step.attempts += 1;
  const { result } = body;
  step.message = result.summary;
  if (result.status === "ok") Object.assign(step, { status: "proposed", phase: "verifying", code: null });
  else if (result.status === "needs_input") {
    Object.assign(step, { phase: "waiting_input", questions: [...result.questions] });
    view.status = "waiting_input";
  } else Object.assign(step, { phase: "ready", code: body.code });
}

function judged(view: View, record: Viewed<"verdict">, step: RunStep): void {
  const { verdict, code, message, commit } = record.body;
  Object.assign(step, { verdict, code, message });
  if (verdict === "PASS" && commit !== null && view.asked.needed > 0) {
    step.approval = openApproval(record.digest, commit, view.asked);
    step.phase = "waiting_input";
    step.questions = [`May commit ${commit.slice(0, 10)} land?`];
    view.status = "waiting_input";
  } else if (verdict === "PASS" && commit !== null) {
    Object.assign(step, { phase: "landing", commit });
  } else if (verdict === "PASS") {
    Object.assign(step, { status: "done", phase: "finished" }); // Nothing changed, so nothing lands.
  } else Object.assign(step, { status: "open", phase: "ready" });
}

function landed(view: View, record: Viewed<"landing">, step: RunStep): void {
  const { body } = record;
  if (body.kind === "refused") {
    Object.assign(step, {
      status: "open",
      phase: "ready",
      code: body.code,
      message: body.message,
      commit: null,
    });
    return;
  }
  Object.assign(step, { status: "done", phase: "finished", code: null, commit: body.commit });
  for (const other of view.steps.values()) {
    if (other.phase === "blocked" && other.deps.every((id) => view.steps.get(id)?.status === "done")) {
      other.phase = "ready";
    }
  }
}

function artifactsOf(view: View, record: AttemptRecord, step: RunStep): void {
  if (record.type === "result" && record.body.kind === "reported") {
    const { evidence, patch } = record.body;
    view.artifacts.push(
      inBucket(
        "Log",
        view.runId,
        step.id,
        record.epoch,
        `Evidence of attempt ${record.epoch}`,
        evidence.key,
        evidence.digest,
      ),
    );
    if (patch !== null)
      view.artifacts.push(inObjects("Diff", step.id, record.epoch, `Diff of attempt ${record.epoch}`, patch));
  }
  if (record.type === "verdict" && record.body.evidence !== null) {
    const { evidence, verdict } = record.body;
    view.artifacts.push(
      inBucket(
        "TestResults",
        view.runId,
        step.id,
        record.epoch,
        `Clean room: ${verdict}`,
        evidence.key,
        evidence.digest,
      ),
    );
  }
}

function inBucket(
  kind: RunArtifact["kind"],
  _runId: string,
  taskId: string | null,
  epoch: number,
  title: string,
  name: string,
  digest: string | null = null,
): RunArtifact {
  const bucket = kind === "Plan" ? BUCKETS.contracts : BUCKETS.evidence;
  return { kind, taskId, epoch, title, bucket, name, digest, bytes: null };
}

function inObjects(
  kind: RunArtifact["kind"],
  taskId: string,
  epoch: number,
  title: string,
  blob: BlobRef,
): RunArtifact {
  const { bucket, name, digest, bytes } = blob;
  return { kind, taskId, epoch, title, bucket, name, digest, bytes };
}
