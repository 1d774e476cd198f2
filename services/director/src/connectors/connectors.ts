/**
 * Reads connectors for a run without a repository, before it is accepted. The adapters are those of the deployment, and only
 * the Director has their credentials: a sandbox gets the answers and no way to the systems behind them.
 *
 * The answers are pinned as a commit, so each attempt, each replay and each Director sees the same ones.
 */
import {
  AntiphonError,
  CONNECTOR_NAMES,
  MATERIAL,
  type ConnectorName,
  type ConnectorsFound,
  type ConnectorsRequest,
  type RepoRef,
  requestProblem,
  validate,
} from "@antiphon/contracts";
import { rootCommit } from "@antiphon/git";
import type { PullRequests } from "../work-items/pull-requests.ts";
import type { WorkItems } from "../work-items/work-items.ts";
import { materialFiles, materialOf, type Answer } from "./material.ts";
import type { MaterialRepository } from "./material-repository.ts";

export interface ConnectorParts {
  /** Null: the deployment has none. */
  readonly workItems: WorkItems | null;
  readonly pullRequests: PullRequests | null;
  /** Read for a run that names no project. */
  readonly projects: readonly RepoRef[];
  readonly material: MaterialRepository;
  /** @throws AntiphonError ANT_REPO_*: the deployment does not serve this repository */
  requireServed(repo: RepoRef): Promise<void>;
  now(): Date;
}

type Reading = NonNullable<ConnectorsRequest["read"]>;

/** Less than the time that the gateway waits. */
const READ_MS = 12_000;

export class Connectors {
  readonly #parts: ConnectorParts;

  constructor(parts: ConnectorParts) {
    this.#parts = parts;
  }

  /** @throws AntiphonError ANT_CONNECTOR_UNAVAILABLE, ANT_REPO_*, ANT_WORK_ITEMS_* */
  async answer(asked: ConnectorsRequest): Promise<ConnectorsFound> {
    const checked = validate("ConnectorsRequest", asked);
    if (!checked.ok) throw requestProblem("ConnectorsRequest", asked, checked.errors);
    const found = { ok: true as const, connectors: this.#configured(), projects: [...this.#parts.projects] };
    const { read } = checked.value;
    if (read === undefined) return found;
    const commit = await this.#read(read);
    return { ...found, base: { repo: { ...MATERIAL }, ref: "HEAD", commit } };
  }

  #configured(): ConnectorName[] {
    const { workItems, pullRequests } = this.#parts;
    const adapters = { "work-items": workItems, "pull-requests": pullRequests };
    return CONNECTOR_NAMES.filter((name) => adapters[name] !== null);
  }

  async #read({ goal, connectors, projects, topics }: Reading): Promise<string> {
    const deadline = AbortSignal.timeout(READ_MS);
    const names = namesOf(projects);
    const answers: Answer[] = [];
    try {
      for (const [i, repo] of projects.entries()) {
        await this.#parts.requireServed(repo);
        for (const connector of connectors) {
          const items = await this.#items(connector, repo, deadline);
          answers.push({ connector, project: names[i] ?? repo.path, items });
        }
      }
    } catch (error) {
      if (!deadline.aborted) throw error;
      const message = `the connectors did not answer in ${READ_MS} ms`;
      throw new AntiphonError("ANT_WORK_ITEMS_UNAVAILABLE", message, { cause: error });
    }
    const at = this.#parts.now();
    const asked = { goal, topics, projects: projects.map(({ path }) => path), connectors };
    const material = materialOf(asked, answers, at);
    const made = rootCommit(materialFiles(material), "What the connectors answered", at);
    await this.#parts.material.keep(made);
    return made.commit;
  }

  #items(connector: ConnectorName, repo: RepoRef, signal: AbortSignal): Promise<Answer["items"]> {
    const { workItems, pullRequests } = this.#parts;
    if (connector === "work-items" && workItems !== null) return workItems.query(repo, "", signal);
    if (connector === "pull-requests" && pullRequests !== null) return pullRequests.open(repo, signal);
    throw new AntiphonError("ANT_CONNECTOR_UNAVAILABLE", `this deployment has no connector ${connector}`);
  }
}

/** Names for people; of projects with the same name their places. */
function namesOf(projects: readonly RepoRef[]): string[] {
  return projects.map(({ name, path }) =>
    projects.filter((other) => other.name === name).length > 1 ? path : name,
  );
}
