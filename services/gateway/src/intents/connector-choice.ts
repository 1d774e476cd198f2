/**
 * Which connectors a run may read. A run of a repository has `git`; one without a repository reads the deployment's others
 * before it is accepted and ends with a brief. Pure.
 *
 * An option that such a run could not use is refused, because nothing would enforce it.
 */
import {
  AntiphonError,
  CONNECTOR_NAMES,
  DIGEST_FILE,
  BRIEF_FILE,
  GIT_CONNECTOR,
  limits,
  type AgentSpec,
  type ConnectorName,
  type Intent,
  type RepoRef,
} from "@antiphon/contracts";
import { repoRefOf } from "./repo-ref.ts";

export interface BriefChoice {
  /** Null: all that the deployment has. */
  readonly connectors: readonly ConnectorName[] | null;
  /** Null: those that the deployment names. */
  readonly projects: readonly RepoRef[] | null;
  readonly topics: readonly string[];
}

/** Without an agent the brief is the list of everything that was read. */
export const LISTING_AGENT: AgentSpec = {
  kind: "scripted",
  commands: [`cp ${DIGEST_FILE} ${BRIEF_FILE}`],
};

const OF_REPOSITORIES = {
  inputs: [
    ...["base_ref", "land_on", "race", "workflow", "tasks", "plan", "grants", "scope", "checks"],
    ...["setup", "verify_git", "history", "gates", "fork", "again_of"],
  ],
  constraints: [
    ...["allow_unverified", "allow_unproven", "require_proof", "trials", "allow_dirty", "approvals"],
    "continue_change",
  ],
} as const;

/**
 * Null: the run has a repository.
 * @throws AntiphonError ANT_INTENT_OPTIONS, ANT_INTENT_NO_REPO
 */
export function briefChoice(intent: Intent): BriefChoice | null {
  const { inputs, connectors = [] } = intent;
  checkConnectors(intent);
  const hasRepository = inputs["repo"] !== undefined && inputs["repo"] !== null && inputs["repo"] !== "";
  if (hasRepository) return null;
  const stray = strayOption(intent);
  if (connectors.includes(GIT_CONNECTOR) || (connectors.length === 0 && stray !== null)) throw noRepository();
  if (stray !== null) throw invalid(stray, `${stray}: a run without a repository cannot use this option`);
  return {
    connectors: connectors.length === 0 ? null : CONNECTOR_NAMES.filter((name) => connectors.includes(name)),
    projects: projectsOf(inputs["projects"]),
    topics: topicsOf(inputs["topics"]),
  };
}

/** @throws AntiphonError ANT_INTENT_OPTIONS for a name that no run can use, or not this one */
export function checkConnectors({ inputs, connectors = [] }: Intent): void {
  const known: readonly string[] = [GIT_CONNECTOR, ...CONNECTOR_NAMES];
  const hasRepository = typeof inputs["repo"] === "object" || typeof inputs["repo"] === "string";
  for (const [at, name] of connectors.entries()) {
    const path = `/connectors/${at}`;
    const quoted = JSON.stringify(name.slice(0, 80));
    if (!known.includes(name))
      throw invalid(path, `${path}: a run can use ${known.join(", ")}, and no connector ${quoted}`);
    if (hasRepository && inputs["repo"] !== "" && inputs["repo"] !== null && name !== GIT_CONNECTOR)
      throw invalid(
        path,
        `${path}: a run with a repository reads ${GIT_CONNECTOR} only; without /inputs/repo it reads ${quoted} and ends with a brief`,
      );
  }
}

export function noRepository(): AntiphonError {
  return new AntiphonError(
    "ANT_INTENT_NO_REPO",
    "the intent names no repository, and none in /inputs/projects",
    {
      data: { path: "/inputs/repo" },
    },
  );
}

function strayOption(intent: Intent): string | null {
  for (const place of ["inputs", "constraints"] as const)
    for (const key of OF_REPOSITORIES[place]) if (intent[place][key] !== undefined) return `/${place}/${key}`;
  const { agent } = intent.inputs;
  const isPatch = typeof agent === "object" && agent !== null && "patch" in agent;
  return isPatch ? "/inputs/agent/patch" : null;
}

function projectsOf(given: unknown): RepoRef[] | null {
  if (given === undefined) return null;
  const path = "/inputs/projects";
  if (!Array.isArray(given) || given.length === 0 || given.length > limits.briefProjects)
    throw invalid(path, `${path}: must be a list of 1 to ${limits.briefProjects} repositories`);
  return given.map((one: unknown, i) => repoRefOf(one, `${path}/${i}`));
}

function topicsOf(given: unknown): string[] {
  if (given === undefined) return [];
  const path = "/inputs/topics";
  const isTopic = (one: unknown): one is string =>
    typeof one === "string" && one.trim() !== "" && one.length <= 64;
  if (!Array.isArray(given) || given.length > 32 || !given.every(isTopic))
    throw invalid(path, `${path}: must be up to 32 texts of 1 to 64 characters`);
  return given;
}

function invalid(path: string, message: string): AntiphonError {
  return new AntiphonError("ANT_INTENT_OPTIONS", message, { data: { path } });
}
