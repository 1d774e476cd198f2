/**
 * Decides where a copied history ends: it has the newest commits, and the parents of these as its ends. Every copied
 * commit that is no end keeps all its parents, so `git log` shows the same commits as in the full repository.
 */
import { isObjectId } from "../objects/git-object.ts";

export interface HistoryCut {
  /** Commits in the copy. */
  commits: number;
  /** Commits whose parents are left out: the content of git's `shallow` file. */
  ends: string[];
}

/**
 * @param listing output of `git rev-list --parents`: an id and its parents in each line
 * @param shallow the commits at which the source's own history ends
 */
export function cutHistory(listing: string, shallow: ReadonlySet<string>): HistoryCut {
  const parentsOf = new Map<string, string[]>();
  for (const line of listing.split("\n")) {
    const [id = "", ...parents] = line.split(" ");
    if (isObjectId(id)) parentsOf.set(id, parents);
  }
  // A single commit stands alone; its parents would add trees that nobody asked for.
  const [only] = parentsOf.keys();
  if (parentsOf.size === 1 && only !== undefined) {
    const isRoot = parentsOf.get(only)?.length === 0 && !shallow.has(only);
    return { commits: 1, ends: isRoot ? [] : [only] };
  }
  const outside = new Set([...parentsOf.values()].flat().filter((id) => !parentsOf.has(id)));
  const ends = [...parentsOf.keys()].filter((id) => shallow.has(id));
  return { commits: parentsOf.size + outside.size, ends: [...outside, ...ends].sort() };
}
