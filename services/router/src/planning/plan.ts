/**
 * From an intent to a graph of tasks: the caller's own tasks, or one task that is the goal itself.
 *
 * Behind them come the skills that judge their changes (gate-tasks.ts).
 *
 * A graph with an unknown, doubled or circular dependency is not planned in part. The answer is a coded refusal that
 * names the tasks at fault, and the run ends with it.
 */
import {
  allChecks,
  AntiphonError,
  BRIEF,
  changesFiles,
  criteriaOfChecks,
  criterionText,
  egressBeyond,
  DELIVERABLES,
  GIT_BASE,
  goesBack,
  isMaterial,
  limits,
  mapCriteria,
  NO_NETWORK,
  taskIdOf,
  taskNumberIn,
  toolsOf,
} from "@antiphon/contracts";
import type {
  AgentSpec,
  Deliverable,
  EgressProfile,
  DirectorTask,
  IntentBody,
  PlannedTask,
  TaskKind,
  TaskSpec,
  Workflow,
} from "@antiphon/contracts";
import { gateTasks } from "./gate-tasks.ts";
import { inWriteOrder } from "./write-order.ts";
import type { Wait } from "./write-order.ts";

const KIND_OF: Record<Workflow, TaskKind> = {
  BUILD: "edit_repo",
  DEBUG: "edit_repo",
  REVIEW: "run",
  PLAN: "inspect",
};

const MAX_CRITERIA = 64;
const CRITERION_CHARS = 2048;

export type Plan = {
  readonly tasks: readonly PlannedTask[];
  /** The same graph in the words of the router contract. */
  readonly specs: readonly TaskSpec[];
  /** Dependencies that the plan did not name: tasks that may change the same files. */
  readonly waits: readonly Wait[];
};

/** @throws AntiphonError ANT_PLAN_INVALID, which names the fault of the graph. */
export function planTasks(intent: IntentBody, workflow: Workflow): Plan {
  const { goal } = intent.intent;
  const given = intent.options.tasks ?? [];
  const specs = given.length > 0 ? given : [{ id: 1, description: goal, dependencies: [] }];
  const fault = faultOf(specs);
  if (fault !== null) throw new AntiphonError("ANT_PLAN_INVALID", fault);
  const ordered = inWriteOrder(specs, ({ kind = KIND_OF[workflow], git_action }) =>
    changesFiles({ kind, git_action }),
  );
  const tasks = ordered.specs.map((spec) => planned(spec, intent, workflow));
  const [only] = tasks;
  const work = given.length === 0 && only !== undefined ? [delivering(only, dueOf(intent, workflow))] : tasks;
  const all = [...work, ...gateTasks(work, intent)];
  if (all.length > limits.tasksPerRun) throw new AntiphonError("ANT_PLAN_INVALID", tooMany(all.length));
  return { ...ordered, tasks: all };
}

/** A run without a repository ends with a brief, whatever its workflow is called. */
function dueOf({ base }: IntentBody, workflow: Workflow): Deliverable | undefined {
  return isMaterial(base.repo) ? BRIEF : DELIVERABLES[workflow];
}

/**
 * The one task of a PLAN or REVIEW run ends with a file: a plan, or findings. An agent that does nothing writes none; then
 * the run only runs its checks.
 */
function delivering(one: PlannedTask, due: Deliverable | undefined): PlannedTask {
  const { task, agent } = one;
  if (due === undefined || isIdle(agent)) return one;
  const { file, criterion } = due;
  const { commands } = task.verify_profile;
  return {
    ...one,
    task: {
      ...task,
      acceptance_criteria: [criterion, ...task.acceptance_criteria].slice(0, MAX_CRITERIA),
      // The checks of the repository say nothing about a plan or a review.
      allowed_tools: [...new Set([...task.allowed_tools, "write_file"])], // It has to write that file.
      verify_profile: { mode: "none", commands },
      return: { ...task.return, artifacts: [file] },
    },
  };
}

function isIdle(agent: AgentSpec): boolean {
  if (agent.kind !== "scripted") return false;
  return (agent.commands ?? []).length === 0 && agent.patch === undefined && agent.ask === undefined;
}

function planned(spec: TaskSpec, intent: IntentBody, workflow: Workflow): PlannedTask {
  const { options } = intent;
  const { acceptance_criteria: named = [], allowed_files, disallowed_files, git_action } = spec;
  const kind = spec.kind ?? KIND_OF[workflow];
  const isGit = kind === "git";
  const agent = isGit ? NO_AGENT : (spec.agent ?? options.agent);
  // What a step of a plan finds out is not judged by the checks of the changes, which may fail on the base.
  const looks = kind === "inspect" && (options.tasks ?? []).length > 0;
  const onlyAsks = looks || (isGit && !changesFiles(spec));
  const checks = allChecks(named, spec.checks ?? (onlyAsks ? [] : options.checks));
  const criteria = mapCriteria(named, checks);
  const task: DirectorTask = {
    task_id: taskIdOf(spec.id),
    kind,
    instruction: spec.description,
    acceptance_criteria:
      criteria.length === 0
        ? criteriaOf(intent, checks)
        : criteria.map((one) => criterionText(one, CRITERION_CHARS)),
    base_ref: refOf(spec) ?? intent.base.ref,
    ...(git_action === undefined ? {} : { git_action }),
    allowed_tools:
      git_action === undefined ? toolsOf(kind, spec.allowed_tools, options.allowed_tools) : [git_action],
    // A run that asks for no network has none.
    egress_profile: isGit ? NO_NETWORK : networkOf(spec, options.egress),
    verify_profile: { mode: onlyAsks && checks.length === 0 ? "none" : "smoke", commands: [...checks] },
    commands: commandsOf(agent),
    time_budget_s: Math.min(spec.time_budget_s ?? Infinity, options.time_budget_s),
    return: { diff: true, diff_format: "unified", logs: true, files_changed: true, artifacts: [] },
  };
  const isScoped = allowed_files !== undefined || disallowed_files !== undefined;
  return {
    task,
    deps: spec.dependencies.map(taskIdOf),
    agent,
    ...(isScoped
      ? { scope: { allowed_files: allowed_files ?? [], disallowed_files: disallowed_files ?? [] } }
      : {}),
    ...(criteria.length === 0 ? {} : { criteria }),
    ...(spec.image === undefined ? {} : { image: spec.image }),
    ...(spec.approvals === undefined ? {} : { approvals: spec.approvals }),
  };
}

/** Only git acts in a task of kind `git`. */
const NO_AGENT: AgentSpec = { kind: "scripted" };

/** What a git task goes back to, as its contract names it. Null: it does not go back. */
function refOf(spec: TaskSpec): string | null {
  if (!goesBack(spec)) return null;
  const number = taskNumberIn(spec.base_ref ?? GIT_BASE);
  return number === null ? GIT_BASE : taskIdOf(number);
}

/** A task narrows its run; the gateway refuses one that asks for more. */
function networkOf({ egress_profile: own }: TaskSpec, ofRun: EgressProfile = NO_NETWORK): EgressProfile {
  if (own === undefined || egressBeyond(own, ofRun) !== null) return ofRun;
  return { mode: own.mode ?? "git+pkg", allowlist: own.allowlist ?? [] };
}

function commandsOf(agent: AgentSpec): string[] {
  return agent.kind === "scripted" ? [...(agent.commands ?? [])] : [];
}

/** The caller's `constraints.acceptance_criteria`; without them, that each check passes. */
function criteriaOf(intent: IntentBody, checks: readonly string[]): string[] {
  const written: unknown = intent.intent.constraints["acceptance_criteria"];
  if (Array.isArray(written)) {
    const lines = written.filter((line): line is string => typeof line === "string" && line.trim() !== "");
    if (lines.length > 0) return lines.slice(0, MAX_CRITERIA).map((line) => line.slice(0, CRITERION_CHARS));
  }
  return criteriaOfChecks(checks);
}

const tooMany = (tasks: number): string => `${tasks} tasks; a run has at most ${limits.tasksPerRun}`;

/** One sentence about the first fault of the graph, or null. */
function faultOf(specs: readonly TaskSpec[]): string | null {
  if (specs.length > limits.tasksPerRun) return tooMany(specs.length);
  const byId = new Map<number, TaskSpec>();
  for (const spec of specs) {
    if (byId.has(spec.id)) return `task ${spec.id} is defined twice`;
    byId.set(spec.id, spec);
  }
  for (const spec of specs) {
    const unknown = spec.dependencies.find((id) => !byId.has(id));
    if (unknown !== undefined) return `task ${spec.id} depends on task ${unknown}, which does not exist`;
  }
  const cycle = cycleIn(byId);
  return cycle === null ? null : `the tasks depend on each other in a circle: ${cycle.join(" -> ")}`;
}

/** The ids of a cycle, with the first one repeated at the end; null if there is none. */
function cycleIn(byId: ReadonlyMap<number, TaskSpec>): number[] | null {
  const settled = new Set<number>();
  const path: number[] = [];
  const visit = (id: number): number[] | null => {
    if (settled.has(id)) return null;
    const start = path.indexOf(id);
    if (start >= 0) return [...path.slice(start), id];
    path.push(id);
    for (const next of byId.get(id)?.dependencies ?? []) {
      const cycle = visit(next);
      if (cycle !== null) return cycle;
    }
    path.pop();
    settled.add(id);
    return null;
  };
  for (const id of byId.keys()) {
    const cycle = visit(id);
    if (cycle !== null) return cycle;
  }
  return null;
}
