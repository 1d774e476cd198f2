/**
 * Folds what a skill found into two tasks: its own, and the one whose change it judged.
 *
 * A skill is a task of the graph, so its attempts are dispatched, claimed and lost as all others, and after a crash the records
 * say whether it has judged. Only its verdict is folded here.
 *
 * Because a skill's word is about one verified change, it counts only while the change that it was given waits for it: an
 * older one changes nothing, and each new change is judged again, also one that was moved to another base (run/R10).
 */
import type { StoredRecord, VerdictBody } from "@antiphon/contracts";
import { askedOf } from "../facts/run-facts.ts";
import { judgedChange } from "../state/judged-change.ts";
import type { Integration, RunState, TaskState } from "../state/run-state.ts";
import { afterGate } from "./approval-fold.ts";
import { nextAttempt, withEvidence, type TaskStep } from "./task-step.ts";

type Verdict = Extract<StoredRecord, { type: "verdict" }>;

/** Null: it says nothing about the change, so it is folded as any other verdict, such as one about an invalid report. */
export function foldGateVerdict(
  state: RunState,
  task: TaskState,
  record: Verdict,
): { readonly state: RunState } | Extract<TaskStep, { kind: "refused" }> | null {
  const { gate } = task.planned;
  const { phase } = task;
  if (gate === undefined || phase.kind !== "proposed" || record.epoch !== phase.epoch) return null;
  const { body } = record;
  const judged = judgedChange(state, task);
  const seen = withEvidence(task, body.evidence);
  const again: TaskState = { ...seen, phase: nextAttempt(phase.epoch) };
  if (judged === null) return { state: withTask(state, again) }; // run/R10
  if (body.verdict !== "PASS" && body.code !== "ANT_GATE_BLOCKED") return null;
  const about = { gate: task.planned.task.task_id, at: record.at, body };
  const own: TaskState =
    body.verdict === "PASS"
      ? { ...seen, phase: { kind: "passed", epoch: phase.epoch, verdict: body } }
      : again;
  if (judged.integration !== null)
    return { state: { ...withTask(state, own), integration: afterGateAgain(state, about) } };
  const step = afterGate(judged.task, about, state.policy, askedOf(state.facts));
  if (step.kind === "refused") return step;
  return { state: withTask(withTask(state, own), step.task) };
}

/** No attempt of the author can answer a finding any more: its task is done (run/R3). */
function afterGateAgain(
  { integration }: RunState,
  { gate, body }: { readonly gate: string; readonly body: VerdictBody },
): Integration {
  if (integration.kind !== "judging") return integration;
  const { epoch, verdict, at } = integration;
  if (body.verdict !== "PASS") {
    const message = `judged again on the branch that moved: ${body.message}`;
    return { kind: "refused", epoch, code: body.code ?? "ANT_GATE_BLOCKED", message };
  }
  const gates = integration.gates.filter((one) => one !== gate);
  return gates.length === 0 ? { kind: "accepted", epoch, verdict, at } : { ...integration, gates };
}

/** run/R10: the skills that passed an earlier change begin again when the next one waits for them. */
export function withGatesReopened(state: RunState, waiting: readonly string[]): RunState {
  return waiting.reduce((run, id) => {
    const gate = run.tasks.find(({ planned }) => planned.task.task_id === id);
    if (gate?.phase.kind !== "passed") return run;
    return withTask(run, { ...gate, phase: nextAttempt(gate.phase.epoch) });
  }, state);
}

function withTask(state: RunState, task: TaskState): RunState {
  const id = task.planned.task.task_id;
  return {
    ...state,
    tasks: state.tasks.map((one) => (one.planned.task.task_id === id ? task : one)),
  };
}
