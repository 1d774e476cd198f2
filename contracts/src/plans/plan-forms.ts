/**
 * The forms in which a plan comes in, each with its contract and the way from it to tasks. Pure.
 *
 * A plan says what is to be done, in which order, in which files, and by which checks it is judged. A task may also name its
 * image, and narrow the network, the tools and the time that its run has. DirectorTasks have the network of seed 000 where their run
 * says nothing about it.
 */
import type { DirectorTask } from "../seeds/director-task.ts";
import type { Plan } from "../seeds/plan.ts";
import type { RouterContract } from "../seeds/router-contract.ts";
import type { TaskContract } from "../seeds/task-contract.ts";
import { TASK_TOOL_NAMES } from "../seeds/task-tool.ts";
import type { TaskPlan } from "../seeds/v13-plan.ts";
import type { SchemaName } from "../registry/registry.ts";
import type { TaskSpec } from "../runs/task-spec.ts";
import type { Problem } from "../validation/problem.ts";
import { criteriaOfChecks } from "./criteria.ts";
import { withoutApprovalNodes } from "./approval-nodes.ts";
import { GIT_BASE, goesBack, namesTask } from "./git-tasks.ts";
import type { PlanFile } from "./plan-file.ts";

/** A task before it has a number. */
export type PlanTask = Omit<TaskSpec, "id" | "dependencies"> & {
  id: string;
  dependencies: readonly string[];
};

export interface PlanForm {
  readonly contract: SchemaName;
  /** Where the list of tasks is, and the names of a task's id and dependencies. */
  readonly list: string;
  readonly id: string;
  readonly dependencies: string | null;
  /** The contract describes one task; a list of them is the plan. */
  readonly ofEach: boolean;
  /** A task that names no network has the default of seed 000. Absent: that of its run. */
  readonly ofSeed?: boolean;
  goal(value: unknown): string | null;
  /** `given`: the document as written, without the defaults of its contract. */
  tasks(value: unknown, given: unknown): PlanTask[] | Problem;
}

const KIND_OF_NODE = { compute: "edit_repo", io: "run", decision: "inspect" } as const;

export const PLAN_FORMS = {
  file: {
    ...{ contract: "PlanFile", list: "/tasks", id: "id", dependencies: "dependencies", ofEach: false },
    goal: (value) => (value as PlanFile).goal ?? null,
    tasks: (value) =>
      (value as PlanFile).tasks.map(({ id, dependencies = [], ...task }) => ({
        ...task,
        id: String(id),
        dependencies: dependencies.map(String),
      })),
  },
  router: {
    ...{ contract: "RouterContract", list: "/router_contract/tasks", id: "id", dependencies: "dependencies" },
    ofEach: false,
    goal: (value) => {
      const { router_contract: contract } = value as RouterContract;
      return "intent" in contract ? contract.intent : null;
    },
    tasks: (value) => {
      const { router_contract: contract } = value as RouterContract;
      if ("tasks" in contract)
        return contract.tasks.map(({ id, description, dependencies }) => ({
          ...{ id: String(id), description, dependencies: dependencies.map(String) },
        }));
      return {
        path: "/router_contract",
        message: "the contract of a run that is over lists no tasks",
        expected: "its task contracts: the directory of the export, with tasks/T-*.yaml",
        found: "a closed contract",
      };
    },
  },
  contracts: {
    ...{ contract: "TaskContract", list: "/tasks", id: "id", dependencies: "depends_on", ofEach: true },
    goal: () => null,
    tasks: (value) => (value as { tasks: TaskContract[] }).tasks.map(ofContract),
  },
  directorTasks: {
    ...{ contract: "DirectorTask", list: "/tasks", id: "task_id", dependencies: null, ofEach: true },
    ofSeed: true,
    goal: () => null,
    tasks: (value, given) =>
      ofDirectorTasks(
        (value as { tasks: DirectorTask[] }).tasks,
        (given as { tasks: Partial<DirectorTask>[] }).tasks,
      ),
  },
  taskPlan: {
    ...{ contract: "TaskPlan", list: "/nodes", id: "id", dependencies: "dependsOn", ofEach: false },
    goal: () => null,
    tasks: (value) =>
      (value as TaskPlan).nodes.map(({ id, title, dependsOn }) => ({
        ...{ id, description: title === "" ? id : title, dependencies: dependsOn },
      })),
  },
  plan: {
    ...{ contract: "Plan", list: "/nodes", id: "id", dependencies: "deps", ofEach: false },
    goal: () => null,
    tasks: (value) => ofPlan(value as Plan),
  },
} as const satisfies Record<string, PlanForm>;

function ofContract(task: TaskContract): PlanTask {
  const { id, objective, scope, verification_commands: checks, acceptance_criteria, depends_on = [] } = task;
  const { kind, git_action, base_ref, image, egress_profile, default_criteria = false } = task;
  // The run of an export demands what the exported run did. Somebody may have changed the words since, and then they count.
  const isDefault = default_criteria && isSame(acceptance_criteria, criteriaOfChecks(checks));
  const named = isDefault ? [] : acceptance_criteria;
  return {
    id,
    description: objective,
    dependencies: depends_on,
    ...(kind === undefined ? {} : { kind }),
    ...(git_action === undefined ? {} : { git_action }),
    ...(base_ref === undefined ? {} : { base_ref }),
    ...(image === undefined ? {} : { image }),
    ...(egress_profile === undefined ? {} : { egress_profile }),
    ...(checks.length === 0 ? {} : { checks }),
    ...(named.length === 0 ? {} : { acceptance_criteria: named }),
    allowed_files: scope.allowed_files,
    ...(scope.disallowed_files.length === 0 ? {} : { disallowed_files: scope.disallowed_files }),
    ...(kind === "git" || !narrows(scope.allowed_tools) ? {} : { allowed_tools: scope.allowed_tools }),
  };
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, i) => text === other[i]);
}

/** Some of our tools and not all of them. A contract that somebody wrote may name tools of their own program. */
function narrows(tools: readonly string[]): boolean {
  const ours: readonly string[] = TASK_TOOL_NAMES;
  return (
    tools.length > 0 &&
    tools.every((tool) => ours.includes(tool)) &&
    ours.some((tool) => !tools.includes(tool))
  );
}

/** A DirectorTask names no dependencies, but one that goes back to another task comes after it. */
function ofDirectorTasks(
  tasks: readonly DirectorTask[],
  given: readonly Partial<DirectorTask>[],
): PlanTask[] {
  return tasks.map((task, i) => {
    const { egress_profile, time_budget_s } = given[i] ?? {};
    const {
      task_id: id,
      instruction,
      kind,
      git_action,
      acceptance_criteria,
      commands,
      verify_profile,
    } = task;
    const checks = verify_profile.commands;
    const ref = goesBack(task) ? (task.base_ref ?? GIT_BASE) : null;
    const named = ref === GIT_BASE ? null : ref; // Also where a task has that id.
    const on = tasks.find((other) => named !== null && other !== task && namesTask(named, other.task_id));
    return {
      ...{ id, description: instruction, dependencies: on === undefined ? [] : [on.task_id], kind },
      ...(git_action === undefined ? {} : { git_action }),
      ...(ref === null ? {} : { base_ref: ref }),
      ...(checks.length === 0 ? {} : { checks }),
      ...(acceptance_criteria.length === 0 ? {} : { acceptance_criteria }),
      // A task that names no time has that of its run.
      ...(egress_profile === undefined ? {} : { egress_profile: task.egress_profile }),
      ...(time_budget_s === undefined ? {} : { time_budget_s }),
      ...(kind === "git" ? {} : { allowed_tools: task.allowed_tools }),
      ...(commands.length === 0 ? {} : { agent: { kind: "scripted" as const, commands } }),
    };
  });
}

function ofPlan({ nodes }: Plan): PlanTask[] | Problem {
  const tasks = withoutApprovalNodes(nodes);
  if (!Array.isArray(tasks)) return tasks;
  return tasks.map(({ id, kind, deps, needed }) => ({
    ...{ id, description: id, dependencies: deps, kind: KIND_OF_NODE[kind] },
    ...(needed === 0 ? {} : { approvals: { needed } }),
  }));
}
