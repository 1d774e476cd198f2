/**
 * Folds one record of a task into its state. This file says which records each phase takes; the change that each makes is in the file of its
 * kind. A record that may not change the task (stale epoch, wrong phase, terminal task) gives `refused` with the reason; the
 * service logs the reason.
 */
import type { DueBody } from "@antiphon/contracts";
import type { Asked } from "@antiphon/contracts/runs/step-approval";
import type { RunPolicy, TaskPhase, TaskState } from "../state/run-state.ts";
import { afterApproval } from "./approval-fold.ts";
import { afterInput, afterSilence } from "./question-fold.ts";
import { afterResult } from "./result-fold.ts";
import type { RecordOf, TaskRecord } from "./task-record.ts";
import { nextAttempt, refused, to, type TaskStep } from "./task-step.ts";
import { afterLanding, afterNoDispatch, afterVerdict } from "./verdict-fold.ts";

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
      if (phase.kind === "open" && event.body.verdict !== "PASS") return afterNoDispatch(task, phase, event);
      if (phase.kind !== "proposed") break;
      return afterVerdict(task, phase, event, policy, rule);
    case "landing":
      if (phase.kind !== "accepted" && phase.kind !== "awaiting") break;
      return afterLanding(task, phase, event);
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

/** A skill is given the change that it judges. */
function given(task: TaskState, { gate }: RecordOf<"dispatch">["body"]): TaskState {
  if (gate === undefined) return task;
  const { attempt, integration = null } = gate;
  return { ...task, judges: { attempt, integration } };
}

function afterDue(task: TaskState, { kind }: DueBody): TaskStep {
  const { phase } = task;
  if (kind === "rest" && phase.kind === "resting") return to(task, nextAttempt(phase.epoch));
  if (kind === "question" && phase.kind === "asking") return afterSilence(task, phase);
  return refused(`a task that is ${phase.kind} does not wait for the end of a ${kind}`);
}
