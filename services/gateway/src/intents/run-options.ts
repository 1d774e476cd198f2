// Reads a run's options from an intent's free-form `inputs` and `constraints`. Pure.
//
// A known key of the wrong type is refused with its path in the intent. An unknown key in `inputs` is information for the
// goal and stays untouched, unless it is a constraint or a slip of an option: passed over, `inputs.approvals` would let a change
// land that nobody approved. An unknown key in `constraints` is refused, because nothing would enforce it, and so is
// a connector that the run cannot use (connector-choice.ts).
import {
  AGENT_KINDS,
  AntiphonError,
  isSlip,
  MATERIAL,
  RUN_OPTION_NAMES,
  RUN_OPTIONS,
  validate,
} from "@antiphon/contracts";
import type { AgentSpec, Intent, OptionPlace, RunOptions } from "@antiphon/contracts";
import { checkBounds } from "./bounded-options.ts";
import { briefChoice, LISTING_AGENT } from "./connector-choice.ts";
import type { BriefChoice } from "./connector-choice.ts";
import { repoRefOf } from "./repo-ref.ts";
import { withSeedNetwork } from "./seed-network.ts";
import { checkTaskGlobs, givenPlan } from "./given-plan.ts";
import { checkPatchSyntax } from "./patch-syntax.ts";

const named = (place: OptionPlace): string[] =>
  RUN_OPTION_NAMES.filter((name) => RUN_OPTIONS[name].place === place);
const IN_INPUTS = named("inputs");
const IN_CONSTRAINTS = named("constraints");
/** Beside the options: what options are made of. */
const KNOWN_INPUTS = [...IN_INPUTS, "plan", "projects", "topics"];
/** Not an option of the run: the Router copies it into each task's contract, which bounds it. */
const CRITERIA = "acceptance_criteria";
const MAX_CRITERIA = 64;
const MAX_CRITERION = 2048;
const KNOWN_AGENTS: readonly string[] = AGENT_KINDS;

export function runOptionsOf(intent: Intent): RunOptions {
  const { inputs, constraints } = intent;
  refuseUnknownConstraint(constraints);
  refuseSlips(inputs);
  checkCriteria(constraints[CRITERIA]);
  const brief = briefChoice(intent);
  const plan = givenPlan(intent);
  const candidate = {
    ...pick(inputs, IN_INPUTS),
    ...(plan === null ? {} : { tasks: plan.tasks }),
    ...pick(constraints, IN_CONSTRAINTS),
    repo: brief === null ? repoRefOf(inputs["repo"], "/inputs/repo") : MATERIAL,
    agent: knownAgent(agentOf(inputs["agent"], brief), "/inputs/agent"),
    ...(brief === null ? {} : { workflow: "PLAN" }),
  };
  if (Array.isArray(inputs.tasks)) inputs.tasks.forEach(checkTaskAgent);
  if (Array.isArray(inputs.next_agents))
    inputs.next_agents.forEach((agent, i) => knownAgent(agent, `/inputs/next_agents/${i}`));
  const judge = (inputs.gates as { agent?: unknown } | null | undefined)?.agent;
  if (judge !== undefined) knownAgent(judge, "/inputs/gates/agent");
  const outcome = validate("RunOptions", candidate);
  if (!outcome.ok) {
    const [problem] = outcome.errors;
    const path = intentPath(problem?.path ?? "");
    const hint = problem?.hint === undefined ? "" : `; ${problem.hint}`;
    throw invalid(
      path,
      `${path}: ${problem?.message ?? "not valid"}, found ${problem?.found ?? "something else"}${hint}`,
    );
  }
  const options = withSeedNetwork(outcome.value, plan);
  checkBounds(options);
  checkTaskGlobs(options.tasks ?? []);
  checkPatches(options);
  return options;
}

/** A run without a repository has an agent of its own. */
function agentOf(given: unknown, brief: BriefChoice | null): unknown {
  return brief !== null && (given === undefined || given === null) ? LISTING_AGENT : given;
}

function invalid(path: string, message: string): AntiphonError {
  return new AntiphonError("ANT_INTENT_OPTIONS", message, { data: { path } });
}

function pick(from: Record<string, unknown>, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]]));
}

/** The validator sees one flat object; this maps its paths back to the caller's document. */
function intentPath(path: string): string {
  const [, key = ""] = path.split("/");
  return `/${IN_CONSTRAINTS.includes(key) ? "constraints" : "inputs"}${path}`;
}

function refuseUnknownConstraint(constraints: Record<string, unknown>): void {
  const known = [...IN_CONSTRAINTS, CRITERIA];
  const unknown = Object.keys(constraints).find((key) => !known.includes(key));
  if (unknown === undefined) return;
  const path = `/constraints/${unknown}`;
  throw invalid(path, `${path}: unknown constraint, which nothing would enforce; known: ${known.join(", ")}`);
}

function refuseSlips(inputs: Record<string, unknown>): void {
  for (const key of Object.keys(inputs).filter((one) => !KNOWN_INPUTS.includes(one))) {
    const path = `/inputs/${key}`;
    const isMeant = (one: string): boolean => one === key || isSlip(key, one);
    const constraint = [...IN_CONSTRAINTS, CRITERIA].find(isMeant);
    if (constraint !== undefined)
      throw invalid(path, `${path}: nothing would enforce it here; did you mean /constraints/${constraint}?`);
    const input = KNOWN_INPUTS.find(isMeant);
    if (input !== undefined)
      throw invalid(path, `${path}: no option; did you mean ${input}? Information needs another name`);
  }
}

function checkCriteria(criteria: unknown): void {
  if (criteria === undefined) return;
  const isLine = (line: unknown): boolean =>
    typeof line === "string" && line.trim() !== "" && line.length <= MAX_CRITERION;
  if (Array.isArray(criteria) && criteria.length <= MAX_CRITERIA && criteria.every(isLine)) return;
  const path = `/constraints/${CRITERIA}`;
  throw invalid(path, `${path}: must be up to ${MAX_CRITERIA} texts of 1 to ${MAX_CRITERION} characters`);
}

function checkTaskAgent(task: unknown, index: number): void {
  const agent = (task as { agent?: unknown } | null)?.agent;
  if (agent !== undefined) knownAgent(agent, `/inputs/tasks/${index}/agent`);
}

function knownAgent(agent: unknown, path: string): unknown {
  if (agent === undefined || agent === null) {
    throw new AntiphonError("ANT_AGENT_MISSING", `${path}: missing; known kinds: ${AGENT_KINDS.join(", ")}`, {
      data: { path, known: AGENT_KINDS },
    });
  }
  const kind = typeof agent === "string" ? agent : (agent as { kind?: unknown }).kind;
  if (typeof kind === "string" && KNOWN_AGENTS.includes(kind)) return agent;
  const found = JSON.stringify(kind) ?? "nothing";
  throw new AntiphonError(
    "ANT_AGENT_UNKNOWN",
    `${path}: there is no agent ${found}; known kinds: ${AGENT_KINDS.join(", ")}`,
    {
      data: { path: `${path}/kind`, known: AGENT_KINDS },
    },
  );
}

function checkPatches(options: RunOptions): void {
  checkPatch(options.agent, "/inputs/agent");
  if (options.gates?.agent !== undefined) checkPatch(options.gates.agent, "/inputs/gates/agent");
  options.next_agents?.forEach((agent, i) => checkPatch(agent, `/inputs/next_agents/${i}`));
  options.tasks?.forEach(
    (task, i) => task.agent !== undefined && checkPatch(task.agent, `/inputs/tasks/${i}/agent`),
  );
}

function checkPatch(agent: AgentSpec, where: string): void {
  if (agent.kind !== "scripted" || agent.patch === undefined) return;
  agent.patch.files.forEach(({ path, diff }, i) => {
    const at = `${where}/patch/files/${i}/diff`;
    const syntax = checkPatchSyntax(diff);
    if (syntax.ok) return;
    throw new AntiphonError(
      "ANT_PATCH_MALFORMED",
      `${at} (${path}), line ${syntax.line}: ${syntax.message}`,
      { data: { path: at, line: syntax.line } },
    );
  });
}
