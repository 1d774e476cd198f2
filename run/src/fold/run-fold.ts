/** Folds one record into the state of a run. `foldTask` handles the records of a task. */
import type { LandingBody, StoredRecord, VerdictBody } from "@antiphon/contracts";
import { approvalsNeeded } from "@antiphon/contracts/runs/step-approval";
import { askedOf } from "../facts/run-facts.ts";
import type { Integration, RunState } from "../state/run-state.ts";
import { foldFacts } from "../facts/facts-fold.ts";
import { withCriteria } from "./criteria-fold.ts";
import { foldGateVerdict, withGatesReopened } from "./gate-fold.ts";
import { foldTask } from "./task-fold.ts";
import { isTaskRecord, type TaskRecord } from "./task-record.ts";

/** The run after a record that fits its state. */
export function foldRun(state: RunState, record: StoredRecord): RunState {
  const seen = withRecord(state, record);
  if (record.taskId !== null) return foldTaskRecord(seen, record.taskId, record);
  switch (record.type) {
    case "intent":
      return { ...seen, head: record.body.base.commit };
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
          seen.facts.intent?.options.land_on === undefined ? { kind: "none" } : { kind: "open", epoch: 1 },
      };
    case "cancel":
      return { ...seen, cancel: record.body };
    case "approval":
      return foldTaskEvent(seen, record.body.task, record);
    case "control":
    case "requeue":
    case "message":
      return seen; // It decides nothing.
    case "verdict": {
      const integration = integrationVerdict(seen, record.epoch, record.body, record.at);
      const next = { ...seen, integration };
      return integration.kind === "judging" ? withGatesReopened(next, integration.gates) : next;
    }
    case "landing":
      return {
        ...seen,
        integration: integrationLanding(seen, record.epoch, record.body),
      };
    case "closed":
      return { ...seen, closed: record.body };
    default:
      return withRefusal(seen, record, `a ${record.type} record needs a task`);
  }
}

/** The run after a record that does not fit its state: it is kept as a fact, and decides nothing. */
export function refuseRecord(state: RunState, record: StoredRecord): RunState {
  return withRefusal(
    withRecord(state, record),
    record,
    `a ${record.type} record does not fit the state of the run`,
  );
}

function withRecord(state: RunState, record: StoredRecord): RunState {
  return {
    ...state,
    facts: foldFacts(state.facts, record),
    lastSeq: record.seq,
    digests: [...state.digests, record.digest],
    refused: null,
  };
}

const withRefusal = (state: RunState, { seq }: StoredRecord, reason: string): RunState => ({
  ...state,
  refused: { seq, reason },
});

function foldTaskRecord(state: RunState, taskId: string, record: StoredRecord): RunState {
  if (!isTaskRecord(record)) return withRefusal(state, record, `${record.type} is not a record of a task`);
  const next = foldTaskEvent(state, taskId, record);
  if (next.refused !== null || record.type !== "landing" || record.body.kind !== "landed") return next;
  return { ...next, head: record.body.commit };
}

function foldTaskEvent(state: RunState, taskId: string, record: TaskRecord): RunState {
  const index = state.tasks.findIndex((task) => task.planned.task.task_id === taskId);
  const task = state.tasks[index];
  if (task === undefined) return withRefusal(state, record, `the run has no task ${taskId}`);
  const ofGate = record.type === "verdict" ? foldGateVerdict(state, task, record) : null;
  if (ofGate !== null) return "state" in ofGate ? ofGate.state : withRefusal(state, record, ofGate.reason);
  const step = foldTask(task, record, state.policy, askedOf(state.facts));
  if (step.kind === "refused") return withRefusal(state, record, step.reason);
  const next = withCriteria({ ...state, tasks: state.tasks.with(index, step.task) }, task.phase, record);
  const { phase } = step.task;
  return record.type === "verdict" && phase.kind === "awaiting" ? withGatesReopened(next, phase.gates) : next;
}

function integrationVerdict(run: RunState, epoch: number, body: VerdictBody, at: Date): Integration {
  const now = run.integration;
  if (now.kind !== "open" || now.epoch !== epoch) return now;
  if (body.verdict !== "PASS")
    return { kind: "refused", epoch, code: body.code ?? "ANT_VERIFY_CHECK_FAILED", message: body.message };
  if (body.commit === run.head) return { kind: "accepted", epoch, verdict: body, at };
  const word = unrepeated(run, body);
  if (word !== null) {
    const message = `the branch moved, so another commit than the ${word} ${run.head} would land`;
    return { kind: "refused", epoch, code: "ANT_APPROVAL_STALE", message }; // run/R10
  }
  const gates = (body.replayed ?? []).flatMap((change) => change.gates);
  return gates.length === 0
    ? { kind: "accepted", epoch, verdict: body, at }
    : { kind: "judging", epoch, verdict: body, at, gates }; // run/R10
}

/**
 * The decision that holds for the run's present commits only: an approval, or the verdict of a skill that is not asked again.
 * With one, no other commit may land in their place. Null: there is none.
 *
 * An approval is bound to the change that a person saw. A skill judges each new change again, except where the verdict lacks
 * `replayed`: it comes from an older Director, which does not ask again.
 */
function unrepeated({ facts, tasks }: RunState, { replayed }: VerdictBody): "approved" | "judged" | null {
  const asked = askedOf(facts);
  const verdicts = tasks.flatMap(({ phase }) => (phase.kind === "done" ? [phase.verdict] : []));
  if (verdicts.some((verdict) => approvalsNeeded(asked, verdict) > 0)) return "approved";
  return replayed === undefined && verdicts.some(({ gates = [] }) => gates.length > 0) ? "judged" : null;
}

function integrationLanding(
  { integration: now, policy }: RunState,
  epoch: number,
  body: LandingBody,
): Integration {
  if (now.kind !== "accepted" || now.epoch !== epoch) return now;
  if (body.kind === "landed") return { kind: "landed", epoch, commit: body.commit, ref: body.ref };
  if (body.code === "ANT_LANDING_HEAD_MOVED" && epoch < policy.maxIntegrations) {
    return { kind: "open", epoch: epoch + 1 }; // run/R5: the branch moved, so the verified commit is not the one that would land.
  }
  return { kind: "refused", epoch, code: body.code, message: body.message };
}
