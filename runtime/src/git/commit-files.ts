/** The files of a commit, for those who decide by names and small texts: which check, which paths are protected. */
import { GITLINK_MODE } from "./git-object.ts";
import { listTree, readObjects } from "./objects.ts";
import { objectStore, openRepo, type RepoLike } from "./repo.ts";
import { requireId, withScratch } from "./scratch.ts";

export interface CommitFiles {
  /** In git's order; submodules are left out. */
  paths: string[];
  /** A file as UTF-8; null when there is none of that name. One process. */
  read(path: string): Promise<string | null>;
}

/** What a decision may read of one file. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;

/** One process (two for a repository given as a path). */
export async function commitFiles(repo: RepoLike, commit: string): Promise<CommitFiles> {
  const opened = await openRepo(repo);
  const store = objectStore(opened);
  requireId(commit);
  const entries = (await withScratch(store, (scratch) => listTree(scratch.git.bind(scratch), commit))).filter(
    (entry) => entry.mode !== GITLINK_MODE,
  );
  return {
    paths: entries.map((entry) => entry.path),
    async read(path) {
      const entry = entries.find((candidate) => candidate.path === path);
      if (entry === undefined) return null;
      return withScratch(store, async (scratch) => {
        const found = await readObjects(scratch.git.bind(scratch), [entry.id], MAX_TEXT_BYTES);
        return found.get(entry.id)?.body.toString("utf8") ?? null;
      });
    },
  };
}
