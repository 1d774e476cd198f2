/**
 * Connectors: the outside systems that a run may read. A run of a repository has one, `git`. A run without a repository
 * starts from what the others answered when it was accepted: a commit of its own, which nothing lands on.
 */
import type { RepoRef } from "../shapes/refs.ts";

/** What a Director reads for a run without a repository. */
export const CONNECTOR_NAMES = ["work-items", "pull-requests"] as const;
export type ConnectorName = (typeof CONNECTOR_NAMES)[number];

/** The connector of every run that has a repository. */
export const GIT_CONNECTOR = "git";

/** The place of what connectors answered. No caller can name it, because its scheme is none of a repository. */
export const MATERIAL: RepoRef = { name: "connectors", path: "connectors://run" };

export function isMaterial({ path }: Pick<RepoRef, "path">): boolean {
  return path === MATERIAL.path;
}

/** The file of the material with all entries, a `BriefMaterial.v1`. */
export const ENTRIES_FILE = "entries.json";
/** The file of the material with the brief that needs no agent: everything that was read. */
export const DIGEST_FILE = "digest.json";
