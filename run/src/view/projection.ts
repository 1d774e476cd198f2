/** The contracts as documents for people. They are rebuilt from a run's state and are never read back. */
import { criteriaOfChecks, goesBack } from "@antiphon/contracts";
import type {
  DirectorTask,
  PlannedTask,
  RouterContract,
  RouterTask,
  TaskContract,
} from "@antiphon/contracts";
import type { RunState, TaskState } from "../state/run-state.ts";

/** The contract of one task, or the Router's contract when `taskId` is null. Null if there is none. */
export function contractOf(run: RunState, taskId: string | null): RouterContract | TaskContract | null {
  if (taskId === null) return routerContract(run);
  const task = run.tasks.find(({ planned }) => planned.task.task_id === taskId);
  return task === undefined ? null : taskContract(run, task);
}

/** The router contract: first as opened, then with the states of its tasks, at last in its final form. Null before routing. */
export function routerContract(run: RunState): RouterContract | null {
  if (run.closed !== null) return { router_contract: run.closed.contract };
  if (run.routed === null) return null;
  const opened = run.routed.contract;
  const tasks = opened.tasks.map((entry, i) => {
    const task = run.tasks[i];
    return task === undefined ? entry : { ...entry, status: routerStatus(task) };
  });
  return { router_contract: { ...opened, tasks } };
}

function routerStatus(task: TaskState): RouterTask["status"] {
  switch (task.phase.kind) {
    case "done":
    case "passed":
      return "COMPLETE";
    case "failed":
    case "asking":
    case "awaiting":
      return "BLOCKED";
    case "open":
      return task.phase.epoch === 1 ? "PENDING" : "IN_PROGRESS";
    default:
      return "IN_PROGRESS";
  }
}

/** The task contract of seed 001. A rejected task shows `open` again; the journal keeps its history. */
export function taskContract(run: RunState, task: TaskState): TaskContract {
  const { planned, phase } = task;
  const scope = planned.scope ?? {
    allowed_files: run.facts.intent?.options.scope ?? [],
    disallowed_files: [],
  };
  return {
    id: planned.task.task_id,
    objective: planned.task.instruction,
    scope: {
      allowed_files: [...scope.allowed_files],
      disallowed_files: [...scope.disallowed_files],
      allowed_tools: [...planned.task.allowed_tools],
      disallowed_tools: [],
    },
    verification_commands: [...planned.task.verify_profile.commands],
    acceptance_criteria: [...planned.task.acceptance_criteria],
    status: contractStatus(task),
    run_id: run.runId,
    epoch: phase.kind === "open" ? phase.epoch - 1 : phase.epoch,
    depends_on: [...planned.deps],
    ...(hasDefaultCriteria(planned) ? { default_criteria: true } : {}),
    ...doingOf(planned.task),
    ...(planned.image === undefined ? {} : { image: planned.image }),
    ...(saysNetwork(run, planned) ? { egress_profile: planned.task.egress_profile } : {}),
    feedback: task.feedback.map(({ epoch, code, message }) => ({ epoch, code, message })),
    evidence: task.evidence.map(({ key, digest }) => ({ path: key, digest })),
    ...(phase.kind === "done" && phase.commit !== null ? { commit: phase.commit } : {}),
  };
}

/** Read as a plan, a task that does not say its network has that of its run: one that was narrowed to none says so. */
function saysNetwork({ facts }: RunState, { task: { kind, egress_profile } }: PlannedTask): boolean {
  if (egress_profile.mode !== "none") return true;
  const ofRun = facts.intent?.options.egress?.mode ?? "none";
  return kind !== "git" && ofRun !== "none";
}

/** Read as a plan, criteria that were named demand more of their checks than these do. */
function hasDefaultCriteria({ task, criteria }: PlannedTask): boolean {
  const { acceptance_criteria: texts, verify_profile } = task;
  const ofChecks = criteriaOfChecks(verify_profile.commands);
  return criteria === undefined && texts.length > 0 && JSON.stringify(texts) === JSON.stringify(ofChecks);
}

/** A task of another kind than most, so that the contract leads to the same task when it is read as a plan. */
function doingOf({ kind, git_action, base_ref }: DirectorTask): Partial<TaskContract> {
  if (kind === "edit_repo") return {};
  const back = goesBack({ kind, git_action }) && base_ref !== undefined ? { base_ref } : {};
  return { kind, ...(git_action === undefined ? {} : { git_action }), ...back };
}

function contractStatus(task: TaskState): TaskContract["status"] {
  switch (task.phase.kind) {
    case "passed":
      return "done";
    case "done":
    case "failed":
      return task.phase.kind;
    case "proposed":
    case "awaiting":
    case "accepted":
      return "proposed";
    default:
      return "open";
  }
}
