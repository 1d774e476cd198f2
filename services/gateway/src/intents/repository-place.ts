// The location of a repository as a Director found it, regardless of the path a caller used.
import { AntiphonError } from "@antiphon/contracts";
import type { RepoRef } from "@antiphon/contracts";
import type { Backend } from "../ports.ts";

export interface RepositoryPlace {
  /** Top of the work tree, without links in its path. */
  readonly top: string;
  /** The directory that all work trees of the repository share. */
  readonly home: string;
}

export type Inspected = Awaited<ReturnType<Backend["inspect"]>>;

export function placeOf({ base, home }: Inspected): RepositoryPlace {
  return { top: base.repo.path, home: home ?? base.repo.path };
}

export function placesOf({ top, home }: RepositoryPlace): string[] {
  return top === home ? [top] : [top, home];
}

/** Null: no repository is there, or none that may be used; the caller cannot tell which. */
export async function locate(
  backend: Pick<Backend, "inspect">,
  repo: RepoRef,
): Promise<RepositoryPlace | null> {
  try {
    return placeOf(await backend.inspect({ repo, allow_dirty: true, image_named: true }));
  } catch (error) {
    if (error instanceof AntiphonError && error.code.startsWith("ANT_REPO_")) return null;
    throw error;
  }
}
