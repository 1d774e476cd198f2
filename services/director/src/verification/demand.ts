/** What the checks of a task have to prove, by its run and by the deployment's policy. Pure. */
import { changesFiles, GIT_BASE, goesBack, isOfCheckAlone } from "@antiphon/contracts";
import type { PlannedTask, PolicyBounds, Proves } from "@antiphon/contracts";
import { intentOf, type RunState, type TaskState } from "@antiphon/run";
import { stronger } from "./strength.ts";

/** What passing checks have to prove, so that a change lands by itself. */
export interface Demand {
  /** By the workflow. Only `allow_unproven` lifts it. */
  readonly workflow: Proves;
  /** By the caller and the plan. `allow_unproven` and people lift it. */
  readonly caller: Proves;
  /** By the deployment's policy. Only people lift it. */
  readonly policy: Proves;
  /** The tests that the change brings have to fail on the sources of the base. `allow_unproven` and people lift it. */
  readonly ownTests: boolean;
  /** The checks have to use the sources of the change. `allow_unproven`, `allow_unverified` and people lift it. */
  readonly sources: boolean;
  readonly allowUnproven: boolean;
  /** People approve the change before it lands, and they see what is proven. */
  readonly byPeople: boolean;
}

export function demandOf(run: RunState, task: TaskState): Demand {
  const { options, policy } = intentOf(run);
  const edits = isEdit(task);
  const others = run.tasks.filter((other) => isEdit(other) && idOf(other) !== idOf(task));
  const isFix = edits && run.routed?.workflow === "DEBUG" && standsForFix(run, task, others);
  return {
    workflow: isFix ? "fail-to-pass" : "nothing",
    caller: edits ? stronger(byPlan(task, others), options.require_proof ?? "nothing") : "nothing",
    policy: edits ? (policy?.require_proof ?? "nothing") : "nothing",
    ownTests: edits && !followsChange(run, task),
    sources: edits && !isGoingBack(task.planned) && policy?.require_proof !== "nothing",
    allowUnproven: options.allow_unproven,
    byPeople: options.approvals !== undefined || task.planned.approvals !== undefined,
  };
}

/**
 * A check that decides a criterion has to depend on the change, and one that decides a step alone has to fail before it. That a
 * check passes, and nothing else, demands no more of it than the check of a task without criteria.
 */
function byPlan(task: TaskState, others: readonly TaskState[]): Proves {
  const { criteria = [] } = task.planned;
  if (criteria.every(isOfCheckAlone)) return "nothing";
  return showsStep(task, others) ? "fail-to-pass" : "regression";
}

/**
 * The checks of a DEBUG run stand for the fix. In a graph, a task may only prepare it or follow it: a task with a criterion
 * that is decided by a check of its own has to prove that, and the last change has to prove the fix if none before it did.
 */
function standsForFix(run: RunState, task: TaskState, others: readonly TaskState[]): boolean {
  if (decidesAlone(task, others)) return true;
  const back = [...others.filter(hasLanded), task].map(({ planned }) => planned).filter(isGoingBack);
  const isProven = others.some(
    ({ planned, phase }) =>
      phase.kind === "done" &&
      phase.verdict.proves === "fail-to-pass" &&
      !back.some((one) => mayUndo(one, planned, run)),
  );
  return !isProven && others.every(({ phase }) => phase.kind === "done");
}

/**
 * A step of a graph with a criterion that a check of its own decides adds what the criterion names, so the check fails before it,
 * in each workflow. A step that prepares names none. One that goes back repeats what was there, so its checks may have passed.
 */
function showsStep(task: TaskState, others: readonly TaskState[]): boolean {
  return !isGoingBack(task.planned) && decidesAlone(task, others);
}

const isGoingBack = ({ task }: PlannedTask): boolean => goesBack(task);

const hasLanded = ({ phase }: TaskState): boolean => phase.kind === "done" && phase.commit !== null;

/** A task that goes back to before a fix may take it away, unless it passes the checks that the fix has passed. */
function mayUndo(back: PlannedTask, fix: PlannedTask, run: RunState): boolean {
  const { base_ref: to = GIT_BASE } = back.task;
  const fixed = fix.task.task_id;
  if (!isBehind(back, fixed, run)) return false;
  const target = run.tasks.find(({ planned }) => planned.task.task_id === to)?.planned;
  if (to === fixed || (target !== undefined && isBehind(target, fixed, run))) return false;
  const [before, after] = [fix, back].map(({ task }) => task.verify_profile.commands) as [string[], string[]];
  return before.length === 0 ? after.length > 0 : before.some((check) => !after.includes(check));
}

/** Whether a task depends on another one, directly or not. */
function isBehind({ deps }: PlannedTask, id: string, run: RunState): boolean {
  const seen = new Set(deps);
  for (const one of seen) {
    if (one === id) return true;
    const next = run.tasks.find(({ planned }) => planned.task.task_id === one)?.planned.deps ?? [];
    for (const dep of next) seen.add(dep);
  }
  return false;
}

/**
 * A check that is shared may have been repaired by another task. One that the words of a criterion quote may pass before the task, as
 * that of a refactoring does: only one that a criterion names as its check shows what is new.
 */
function decidesAlone({ planned }: TaskState, others: readonly TaskState[]): boolean {
  const shared = new Set(others.flatMap((other) => other.planned.task.verify_profile.commands));
  const { criteria = [] } = planned;
  return (
    others.length > 0 &&
    criteria.some(({ check, quoted }) => check !== null && quoted !== true && !shared.has(check))
  );
}

/** A task after a change may bring the tests of that change, which the base of the task holds already. */
function followsChange(run: RunState, { planned: { deps } }: TaskState): boolean {
  const before = run.tasks.filter((other) => deps.includes(idOf(other)));
  return before.some(
    (other) =>
      (isEdit(other) && other.phase.kind === "done" && other.phase.commit !== null) ||
      followsChange(run, other),
  );
}

function isEdit({ planned }: TaskState): boolean {
  return changesFiles(planned.task) && planned.gate === undefined;
}

const idOf = ({ planned }: TaskState): string => planned.task.task_id;

/** Whether the answer of the base is needed, however long it takes. */
export function needsBase({ workflow, caller, policy }: Demand, bounds: PolicyBounds | undefined): boolean {
  const autoLand = (bounds?.auto_land ?? []).map(({ proof = "nothing" }) => proof);
  return [workflow, caller, policy, ...autoLand].some((proof) => proof !== "nothing");
}
