// Reads a run's options from an intent's free-form `inputs` and `constraints`. Pure.
//
// A known key of the wrong type is refused with its path in the intent. An unknown key in `inputs` is information for the
// goal and stays untouched; an unknown key in `constraints` is refused, because nothing would enforce it, and so is an unknown
// connector, because nothing would read it.
import {
  AGENT_KINDS,
  AntiphonError,
  looksLikeUrl,
  repositoryUrl,
  RUN_OPTION_NAMES,
  RUN_OPTIONS,
  validate,
} from "@antiphon/contracts";
import type { AgentSpec, Intent, OptionPlace, RepoRef, RunOptions } from "@antiphon/contracts";
import { checkBounds } from "./bounded-options.ts";
import { checkTaskGlobs, givenPlan } from "./given-plan.ts";
import { checkPatchSyntax } from "./patch-syntax.ts";

const named = (place: OptionPlace): string[] =>
  RUN_OPTION_NAMES.filter((name) => RUN_OPTIONS[name].place === place);
const IN_INPUTS = named("inputs");
const IN_CONSTRAINTS = named("constraints");
/** Not an option of the run: the Router copies it into each task's contract, which bounds it. */
const CRITERIA = "acceptance_criteria";
const MAX_CRITERIA = 64;
const MAX_CRITERION = 2048;
const KNOWN_AGENTS: readonly string[] = AGENT_KINDS;
/** `git`: the run's repository. Nothing else is read for a run. */
const CONNECTORS: readonly string[] = ["git"];

export function runOptionsOf(intent: Intent): RunOptions {
  const { inputs, constraints } = intent;
  refuseUnknownConstraint(constraints);
  checkCriteria(constraints[CRITERIA]);
  checkConnectors(intent.connectors ?? []);
  const plan = givenPlan(intent);
  const candidate = {
    ...pick(inputs, IN_INPUTS),
    ...(plan === null ? {} : { tasks: plan }),
    ...pick(constraints, IN_CONSTRAINTS),
    repo: repoOf(inputs.repo),
    agent: knownAgent(inputs.agent, "/inputs/agent"),
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
  checkBounds(outcome.value);
  checkTaskGlobs(outcome.value.tasks ?? []);
  checkPatches(outcome.value);
  return outcome.value;
}

function checkConnectors(connectors: readonly string[]): void {
  const at = connectors.findIndex((name) => !CONNECTORS.includes(name));
  if (at === -1) return;
  const path = `/connectors/${at}`;
  const name = JSON.stringify(connectors[at]?.slice(0, 80));
  throw invalid(path, `${path}: a run can use ${CONNECTORS.join(", ")}, and no connector ${name}`);
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

function checkCriteria(criteria: unknown): void {
  if (criteria === undefined) return;
  const isLine = (line: unknown): boolean =>
    typeof line === "string" && line.trim() !== "" && line.length <= MAX_CRITERION;
  if (Array.isArray(criteria) && criteria.length <= MAX_CRITERIA && criteria.every(isLine)) return;
  const path = `/constraints/${CRITERIA}`;
  throw invalid(path, `${path}: must be up to ${MAX_CRITERIA} texts of 1 to ${MAX_CRITERION} characters`);
}

function repoOf(repo: unknown): RepoRef {
  if (repo === undefined || repo === null || repo === "") {
    throw new AntiphonError("ANT_INTENT_NO_REPO", "the intent names no repository", {
      data: { path: "/inputs/repo" },
    });
  }
  if (typeof repo === "string") return { name: nameOf(repo), path: absolute(repo, "/inputs/repo") };
  const { name, path } = repo as { name?: unknown; path?: unknown };
  if (typeof repo !== "object" || typeof path !== "string") {
    throw invalid("/inputs/repo", "/inputs/repo: must be an absolute path, or {name, path}");
  }
  if (name !== undefined && typeof name !== "string")
    throw invalid("/inputs/repo/name", "/inputs/repo/name: must be a string");
  return { name: name ?? nameOf(path), path: absolute(path, "/inputs/repo/path") };
}

function nameOf(path: string): string {
  return (
    path
      .split("/")
      .filter((part) => part !== "")
      .at(-1) ?? path
  );
}

/** A relative path would mean different things to the caller and to the Director. */
function absolute(path: string, where: string): string {
  if (path.startsWith("/") && !path.includes("\0")) return path;
  if (looksLikeUrl(path)) return canonicalUrl(path, where);
  throw invalid(
    where,
    `${where}: must be an absolute path on the Director's machine, or a URL, found ${JSON.stringify(path)}`,
  );
}

/** The reason does not quote the URL, which may hold a password. */
function canonicalUrl(text: string, where: string): string {
  const parsed = repositoryUrl(text);
  if (!("fault" in parsed)) return parsed.url;
  throw new AntiphonError("ANT_REPO_URL_INVALID", `${where}: the URL ${parsed.fault}`, {
    data: { path: where },
  });
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
