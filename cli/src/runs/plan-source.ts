// Reads the plan that `--plan` names: a file, the directory of an export, or a PLAN run.
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { TaskSpec } from "@antiphon/contracts";
import { layout } from "@antiphon/contracts/documents/layout";
import { validateDocument } from "@antiphon/contracts/documents/document";
import { GATE_SKILLS } from "@antiphon/contracts/runs/skill-gates";
import { planProblemText, readPlanText } from "@antiphon/contracts/plans/plan-text";
import { readPlan } from "@antiphon/contracts/plans/read-plan";
import { Failure, usage } from "../failure.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import { planOf } from "./deliveries.ts";
import { readText } from "./run-files.ts";

export interface PlanSource {
  /** As the intent takes it. */
  readonly value: unknown;
  readonly goal: string | null;
  readonly tasks: readonly TaskSpec[];
  /** DirectorTasks bring the network of seed 000 along where the run says nothing about it. */
  readonly bringsNetwork: boolean;
}

const RUN_ID = /^run_[a-z0-9]{1,32}$/;
const TASK_FILE = /^T-[^/]+\.ya?ml$/;

/** A file of this name wins. */
export function namesRun(named: string): boolean {
  return RUN_ID.test(named) && !existsSync(named);
}

export async function loadPlan(named: string, gateway: () => Promise<GatewayClient>): Promise<PlanSource> {
  if (namesRun(named)) {
    const { text, goal } = await planOf(await gateway(), named);
    return ofAgent(planIn(text, `the plan of ${named}`, goal));
  }
  const isDirectory = named !== "-" && existsSync(named) && statSync(named).isDirectory();
  if (isClosedExport(named)) return planInDirectory(dirname(named));
  return isDirectory ? planInDirectory(named) : planIn(readText(named), named, null);
}

function planIn(text: string, name: string, goal: string | null): PlanSource {
  const read = readPlanText(text, name);
  if (!read.ok) throw invalid(planProblemText(name, read.problem));
  const { tasks, seedNetwork } = read.plan;
  return { value: read.value, goal: read.plan.goal ?? goal, tasks, bringsNetwork: seedNetwork !== null };
}

/** An agent wrote it, which opens no network by the form that it chose: its tasks go on as those of a plan.yaml. */
function ofAgent(plan: PlanSource): PlanSource {
  if (!plan.bringsNetwork) return plan;
  return { ...plan, value: { tasks: plan.tasks }, bringsNetwork: false };
}

/** The contract of a run that is over stands for the export that it lies in, because it lists no tasks itself. */
function isClosedExport(named: string): boolean {
  if (basename(named) !== layout.routerContract || !existsSync(named)) return false;
  const isClosed = existsSync(join(dirname(named), "tasks")) && !readPlanText(readText(named), named).ok;
  return isClosed && goalIn(join(dirname(named), layout.openedContract)) !== null;
}

/** An export: `tasks/T-*.yaml`, and the goal in `router_contract.yaml`, or as the run was opened if it is over. */
function planInDirectory(directory: string): PlanSource {
  const inside = join(directory, "tasks");
  const folder = existsSync(inside) ? inside : directory;
  const all = readdirSync(folder).filter((name) => TASK_FILE.test(name));
  const names = all.filter((name) => !isOfSkill(name, all));
  if (names.length === 0)
    throw usage(`${directory} holds no task contracts`, "name a plan, or a directory with tasks/T-*.yaml");
  const files = names.sort().map((name) => join(folder, name));
  const value = { tasks: files.map(taskContractIn) };
  const read = readPlan(value);
  if (!read.ok) {
    const [, index = "", path = ""] = /^\/tasks\/(\d+)(.*)$/.exec(read.problem.path) ?? [];
    throw invalid(
      planProblemText(files[Number(index)] ?? folder, { ...read.problem, path, line: 1, column: 1 }),
    );
  }
  const [goal = null] = [layout.routerContract, layout.openedContract].flatMap(
    (name) => goalIn(join(directory, name)) ?? [],
  );
  return { value, goal, tasks: read.plan.tasks, bringsNetwork: false };
}

/** A skill judges the change of another task; the run that carries the plan out asks its own skills. */
function isOfSkill(name: string, all: readonly string[]): boolean {
  const [stem = "", ending = ""] = name.split(/(?=\.ya?ml$)/);
  return GATE_SKILLS.some((skill) =>
    all.some((other) => `${other.slice(0, -ending.length)}-${skill}` === stem),
  );
}

function taskContractIn(file: string): unknown {
  const check = validateDocument(readText(file), { filename: file, schema: "TaskContract" });
  if (check.ok) return check.value;
  const [first] = check.errors;
  throw invalid(first === undefined ? `${file} is no task contract` : planProblemText(file, first));
}

function goalIn(file: string): string | null {
  if (!existsSync(file)) return null;
  const read = readPlanText(readText(file), file);
  return read.ok ? read.plan.goal : null;
}

function invalid(message: string): Failure {
  return new Failure("ANT_PLAN_INVALID", message, { exitCode: 2 });
}
