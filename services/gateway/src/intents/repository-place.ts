// Where a repository is, as a Director found it: what a caller calls it decides nothing.
import { AntiphonError } from "@antiphon/contracts";
import type { RepoRef } from "@antiphon/contracts";
import type { Backend } from "../ports.ts";

export interface RepositoryPlace {
  /** Top of the work tree, without links in its path. */
  readonly top: string;
  /** The directory all work trees of the repository share. */
  readonly home: string;
}

export type Inspected = Awaited<ReturnType<Backend["inspect"]>>;

export function placeOf({ base, home }: Inspected): RepositoryPlace {
  return { top: base.repo.path, home: home ?? base.repo.path };
}

export function placesOf({ top, home }: RepositoryPlace): string[] {
  return top === home ? [top] : [top, home];
}

/** Null: there is none, or none that may be used here; the two are not told apart. */
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
