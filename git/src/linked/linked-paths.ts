/** Refuses a change of what a tree only points to: neither a submodule's files nor LFS content can be committed here. */
import { AntiphonError } from "@antiphon/contracts";
import { GITLINK_MODE, type TreeEntry } from "../objects/git-object.ts";
import { objectStore, openRepo, type RepoLike } from "../repository/repo.ts";
import { withScratch, type Scratch } from "../repository/scratch.ts";
import { hasAttributes, lfsPaths } from "./lfs-paths.ts";

/** @throws AntiphonError ANT_PATCH_GITLINK for a path inside a submodule of the tree */
export function refuseInSubmodules(entries: readonly TreeEntry[], paths: readonly string[]): void {
  const modules = new Set(entries.filter(({ mode }) => mode === GITLINK_MODE).map(({ path }) => path));
  if (modules.size === 0) return;
  for (const path of paths) {
    for (let cut = path.indexOf("/"); cut > 0; cut = path.indexOf("/", cut + 1)) {
      const outer = path.slice(0, cut);
      if (!modules.has(outer)) continue;
      const told = `${path} is a file of the submodule ${outer}, which a change cannot reach`;
      throw new AntiphonError("ANT_PATCH_GITLINK", told, { data: { path } });
    }
  }
}

/**
 * A changed file would land as it is instead of as a pointer, and its content would be in no LFS store.
 * @throws AntiphonError ANT_PATCH_LFS for a path that the tree's attributes hand to Git LFS
 */
export async function refuseLfs(
  scratch: Scratch,
  treeish: string,
  entries: readonly TreeEntry[],
  paths: readonly string[],
): Promise<void> {
  const [path] = await lfsPaths(scratch, treeish, entries, paths);
  if (path === undefined) return;
  throw new AntiphonError("ANT_PATCH_LFS", `${path} belongs into Git LFS`, { data: { path } });
}

/** The same for the files of a change of a commit. No process for a tree without attributes. */
export async function refuseLfsOf(
  repo: RepoLike,
  commit: string,
  entries: readonly TreeEntry[],
  paths: readonly string[],
): Promise<void> {
  if (paths.length === 0 || !hasAttributes(entries)) return;
  const store = objectStore(await openRepo(repo));
  await withScratch(store, (scratch) => refuseLfs(scratch, commit, entries, paths));
}
