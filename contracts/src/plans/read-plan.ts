/**
 * Reads a plan in any of its forms: our own `plan.yaml`, TaskPlan and Plan.v0, a router contract, task contracts, and
 * DirectorTasks. Pure. A plan is read whole or refused with the first fault and its place.
 */
import { graphRules } from "../rules/graph.ts";
import { unknownTool } from "../runs/task-limits.ts";
import type { DirectorTaskInput } from "../seeds/director-task.ts";
import type { TaskSpec } from "../runs/task-spec.ts";
import { TASK_TOOL_NAMES } from "../seeds/task-tool.ts";
import { bounded, show, type Problem } from "../validation/problem.ts";
import { validate, type Validation } from "../validation/validate.ts";
import { GIT_BASE, gitTaskRule, namesTask } from "./git-tasks.ts";
import { PLAN_FORMS, type PlanForm, type PlanTask } from "./plan-forms.ts";
import { taskIdOf, taskNumberIn } from "./task-number.ts";

export interface TaskGraph {
  /** The goal that the plan names; null: it names none. */
  readonly goal: string | null;
  readonly tasks: TaskSpec[];
  /**
   * Of DirectorTasks: the tasks that leave their network to the default of seed 000, which is `git+pkg` and holds where the run
   * says nothing about its network. Null: a form without that default.
   */
  readonly seedNetwork: readonly number[] | null;
}

export type ReadPlan = { ok: true; plan: TaskGraph } | { ok: false; problem: Problem };

const MAX_TASKS = 256;

export function readPlan(given: unknown): ReadPlan {
  const document = gathered(given);
  const form = formOf(document);
  if (form === null) return refused({ path: "", ...UNKNOWN });
  const shaped = form.ofEach ? eachShaped(document, form) : validate(form.contract, document);
  if (!shaped.ok) return refused(firstOf(shaped.errors, ""));
  const tasks = form.tasks(shaped.value, document);
  if (!Array.isArray(tasks)) return refused(tasks);
  const fault = countProblem(tasks, form) ?? graphProblem(tasks, form) ?? toolProblem(tasks, form);
  if (fault !== null) return refused(fault);
  const read = numbered(tasks, form, form.goal(shaped.value));
  return read.ok && form.ofSeed === true ? withSeedNetwork(read.plan, document) : read;
}

/** Git acts alone in a task of kind `git`, without a network. */
function withSeedNetwork(plan: TaskGraph, given: unknown): ReadPlan {
  const { tasks } = given as { tasks: Partial<DirectorTaskInput>[] };
  const isSilent = (at: number): boolean =>
    tasks[at]?.kind !== "git" && tasks[at]?.egress_profile?.mode === undefined;
  const seedNetwork = plan.tasks.flatMap(({ id }, i) => (isSilent(i) ? [id] : []));
  return { ok: true, plan: { ...plan, seedNetwork } };
}

const UNKNOWN = {
  message: "this is no plan",
  expected: "`tasks`, `nodes`, `router_contract`, or task contracts",
  found: "another document",
};

const refused = (problem: Problem): ReadPlan => ({ ok: false, problem: bounded(problem) });

/** A list of tasks, and a single task, as a document with `tasks`. */
function gathered(value: unknown): unknown {
  if (Array.isArray(value)) return { tasks: value as unknown[] };
  return isRecord(value) && ("objective" in value || "instruction" in value) ? { tasks: [value] } : value;
}

function formOf(value: unknown): PlanForm | null {
  if (!isRecord(value)) return null;
  if ("router_contract" in value) return PLAN_FORMS.router;
  if (Array.isArray(value["nodes"])) {
    const first: unknown = value["nodes"][0];
    return isRecord(first) && ("deps" in first || "kind" in first) ? PLAN_FORMS.plan : PLAN_FORMS.taskPlan;
  }
  if (!("tasks" in value)) return null;
  const first: unknown = Array.isArray(value["tasks"]) ? value["tasks"][0] : null;
  if (isRecord(first) && "objective" in first) return PLAN_FORMS.contracts;
  if (isRecord(first) && "instruction" in first) return PLAN_FORMS.directorTasks;
  return PLAN_FORMS.file;
}

/** Each task has the shape of its contract. The value has the contract's defaults. */
function eachShaped(document: unknown, { contract, list }: PlanForm): Validation<unknown> {
  const tasks: unknown[] = [];
  for (const [i, task] of (document as { tasks: unknown[] }).tasks.slice(0, MAX_TASKS + 1).entries()) {
    const outcome = validate(contract, task);
    if (!outcome.ok) return { ok: false, errors: [firstOf(outcome.errors, `${list}/${i}`)] };
    tasks.push(outcome.value);
  }
  return { ok: true, value: { tasks } };
}

function firstOf([first]: readonly Problem[], below: string): Problem {
  return first === undefined ? { path: below, ...UNKNOWN } : { ...first, path: `${below}${first.path}` };
}

function countProblem({ length }: readonly PlanTask[], { list }: PlanForm): Problem | null {
  if (length > 0 && length <= MAX_TASKS) return null;
  const expected = `1 to ${MAX_TASKS} tasks`;
  return {
    path: list,
    message: "a plan has at least one task, and not too many",
    expected,
    found: `${length}`,
  };
}

function graphProblem(tasks: readonly PlanTask[], form: PlanForm): Problem | null {
  const nodes = tasks.map(({ dependencies, ...task }) => ({ ...task, deps: dependencies }));
  const rules = graphRules({
    ...{ name: "plan", path: form.list, idKey: form.id, depsKey: form.dependencies ?? "" },
    nodes: () => nodes,
  });
  for (const { check } of [...rules, gitTaskRule("plan", form.list, () => nodes)]) {
    const problem = check(null);
    if (problem !== null) return problem;
  }
  return null;
}

function toolProblem(tasks: readonly PlanTask[], { list }: PlanForm): Problem | null {
  for (const [i, { kind, allowed_tools }] of tasks.entries()) {
    const tool = unknownTool(kind, allowed_tools);
    if (tool === null) continue;
    const expected = TASK_TOOL_NAMES.join(", ");
    return {
      path: `${list}/${i}/allowed_tools`,
      message: "there is no such tool",
      expected,
      found: show(tool),
    };
  }
  return null;
}

/** `T-007` and `7` keep their number; if an id is no number, all tasks are numbered in their order. */
function numbered(tasks: readonly PlanTask[], form: PlanForm, goal: string | null): ReadPlan {
  const own = tasks.map(({ id }) => taskNumberIn(id));
  const keep = own.every((number) => number !== null) && new Set(own).size === own.length;
  const numbers = new Map(tasks.map(({ id }, i) => [id, keep ? (own[i] ?? 0) : i + 1]));
  const specs: TaskSpec[] = [];
  const refOf = (ref: string): string => {
    if (ref === GIT_BASE) return ref; // Also where a task has that id.
    const number = numbers.get(tasks.find(({ id }) => namesTask(ref, id))?.id ?? "");
    return number === undefined ? ref : taskIdOf(number);
  };
  for (const [i, { id, dependencies, base_ref: ref, ...task }] of tasks.entries()) {
    const spec = {
      ...task,
      ...(ref === undefined ? {} : { base_ref: refOf(ref) }),
      id: numbers.get(id),
      dependencies: dependencies.map((dep) => numbers.get(dep)),
      allowed_files: task.allowed_files ?? [],
    };
    const outcome = validate("TaskSpec", spec);
    if (!outcome.ok) return refused({ ...firstOf(outcome.errors, ""), path: `${form.list}/${i}` });
    specs.push(outcome.value);
  }
  return { ok: true, plan: { goal, tasks: specs, seedNetwork: null } };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
