/**
 * Folds the decisions of people and skills about a verified change that waits for them.
 *
 * Promises:
 *   run/R10 Because a yes is about one change, an approval, one from each person and none from who asked for it, counts
 *     only for the change, the workspace and the policy that was looked at, and a skill's word only while the change
 *     that it judged waits; a reject before the last approval keeps the change from ever landing.
 */
import { ownerOf, type ApprovalBody, type Feedback, type VerdictBody } from "@antiphon/contracts";
import { approvalsNeeded, type Asked } from "@antiphon/contracts/runs/step-approval";
import type { RunPolicy, TaskPhase, TaskState } from "../state/run-state.ts";
import type { RecordOf } from "./task-record.ts";
import { failed, refused, reject, to, type PhaseOf, type TaskStep } from "./task-step.ts";

export function afterApproval(
  task: TaskState,
  phase: PhaseOf<"awaiting">,
  { body, at }: RecordOf<"approval">,
  policy: RunPolicy,
  rule: Asked,
): TaskStep {
  const { epoch, digest, approvedBy } = phase;
  if (body.verdict !== digest) return refused(`${body.verdict} is not the verdict that waits`); // run/R10
  if (body.choice === "reject") return to(task, rejectedBy(epoch, at, body));
  if (body.choice === "changes") return reject(task, policy, changesAskedBy(epoch, body));
  if (ownerOf(body.by, rule.askers) !== undefined) return refused(`an approval of ${body.by} does not count`);
  if (approvedBy.includes(body.by)) return refused(`${body.by} has approved before`);
  return decided(task, { ...phase, at, approvedBy: [...approvedBy, body.by] }, rule);
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

/** run/R10: a verified change lands when nobody is left who has to decide about it. */
export function decided(task: TaskState, phase: PhaseOf<"awaiting">, rule: Asked): TaskStep {
  const { epoch, report, at, verdict, approvedBy, gates } = phase;
  return gates.length > 0 || approvedBy.length < approvalsNeeded(rule, verdict)
    ? to(task, phase)
    : to(task, { kind: "accepted", epoch, report, at, verdict });
}

type PersonsWord = Pick<ApprovalBody, "by" | "reason">;

export function rejectedBy(epoch: number, at: Date, { by, reason = "" }: PersonsWord): TaskPhase {
  const why = reason.trim() === "" ? "no reason given" : reason;
  return failed(epoch, "ANT_TASK_REJECTED", `rejected by ${by} at ${at.toISOString()}: ${why}`);
}

export function changesAskedBy(epoch: number, { by, reason = "" }: PersonsWord): Feedback {
  return { epoch, code: "ANT_TASK_CHANGES_ASKED", message: `${by} asks for changes: ${reason}`, checks: [] };
}
