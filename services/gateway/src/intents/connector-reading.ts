// Asks a Director for what a run without a repository reads, and for the places whose policy applies to it.
import { AntiphonError, looksLikeUrl, MATERIAL } from "@antiphon/contracts";
import type { ConnectorName, ConnectorsFound, Intent, RepoBase, RepoRef } from "@antiphon/contracts";
import { briefChoice, noRepository } from "./connector-choice.ts";
import type { BriefChoice } from "./connector-choice.ts";
import { locate, placesOf } from "./repository-place.ts";
import type { Backend } from "../ports.ts";

type Asked = Pick<Backend, "inspect" | "connectors">;

export interface BriefSources {
  readonly goal: string;
  readonly connectors: ConnectorName[];
  readonly projects: RepoRef[];
  readonly topics: string[];
  /** The policy of each project applies, as for a run of it. */
  readonly places: readonly string[];
}

/** @throws AntiphonError ANT_CONNECTOR_UNAVAILABLE: the deployment lacks a connector that the intent names */
export async function requireConnectors(backend: Pick<Asked, "connectors">, intent: Intent): Promise<void> {
  const choice = briefChoice(intent);
  if (choice === null || choice.connectors === null) return;
  chosen(choice, await backend.connectors({}));
}

/** @throws AntiphonError ANT_CONNECTOR_UNAVAILABLE, ANT_INTENT_NO_REPO, ANT_INTENT_OPTIONS, ANT_REPO_NOT_FOUND */
export async function briefSources(backend: Asked, intent: Intent): Promise<BriefSources> {
  const choice = briefChoice(intent);
  if (choice === null) throw new AntiphonError("ANT_INTERNAL", "a run with a repository reads no connectors");
  const found = await backend.connectors({});
  const connectors = chosen(choice, found);
  const named = choice.projects ?? found.projects;
  if (named.length === 0) throw noProjects(choice);
  const located = await Promise.all(named.map((project) => projectAt(backend, project)));
  return {
    ...{ goal: intent.goal, connectors, topics: [...choice.topics] },
    projects: located.map(({ repo }) => repo),
    places: [MATERIAL.path, ...located.flatMap(({ places }) => places)],
  };
}

/** The places of a brief on record, as admission finds them now. A project that is gone counts by its path. */
export async function briefPlaces(backend: Asked, intent: Intent): Promise<string[]> {
  const named = briefChoice(intent)?.projects ?? (await backend.connectors({})).projects;
  const located = await Promise.all(
    named.map(async (project) => {
      const place = looksLikeUrl(project.path) ? null : await locate(backend, project);
      return place === null ? [project.path] : placesOf(place);
    }),
  );
  return [MATERIAL.path, ...located.flat()];
}

export async function readSources(
  backend: Pick<Asked, "connectors">,
  { goal, connectors, projects, topics }: BriefSources,
): Promise<RepoBase> {
  const { base } = await backend.connectors({ read: { goal, connectors, projects, topics } });
  if (base !== undefined) return base;
  throw new AntiphonError("ANT_DIRECTOR_UNAVAILABLE", "the Director read no connectors");
}

function chosen(choice: BriefChoice, found: ConnectorsFound): ConnectorName[] {
  const missing = choice.connectors?.find((name) => !found.connectors.includes(name));
  if (missing !== undefined) {
    const has = found.connectors.length === 0 ? "none" : found.connectors.join(", ");
    const message = `this deployment has no connector ${missing}; it has ${has}`;
    throw new AntiphonError("ANT_CONNECTOR_UNAVAILABLE", message, { data: { path: "/connectors" } });
  }
  if (found.connectors.length === 0) throw noRepository();
  return [...(choice.connectors ?? found.connectors)];
}

function noProjects({ connectors }: BriefChoice): AntiphonError {
  if (connectors === null) return noRepository();
  const path = "/inputs/projects";
  const message = `${path}: names no repository to read about, and the deployment has no ANTIPHON_BRIEF_PROJECTS`;
  return new AntiphonError("ANT_INTENT_OPTIONS", message, { data: { path } });
}

/** A repository by URL need not be fetched for its issues. */
async function projectAt(
  backend: Pick<Asked, "inspect">,
  repo: RepoRef,
): Promise<{ repo: RepoRef; places: string[] }> {
  if (looksLikeUrl(repo.path)) return { repo, places: [repo.path] };
  const place = await locate(backend, repo);
  if (place === null)
    throw new AntiphonError("ANT_REPO_NOT_FOUND", `there is no repository at ${repo.path}`, {
      data: { path: "/inputs/projects" },
    });
  return { repo: { name: repo.name, path: place.top }, places: placesOf(place) };
}
