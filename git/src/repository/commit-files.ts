/** The files of a commit, for decisions by names and small texts: which check runs, which paths are protected. */
import { formatOf, gitObject, GITLINK_MODE, type TreeEntry } from "../objects/git-object.ts";
import { idsUpTo, listCommit, readObjects } from "../objects/objects.ts";
import { objectStore, openRepo, type RepoLike } from "./repo.ts";
import { requireId, withScratch, type ObjectStore } from "./scratch.ts";

export interface CommitFiles {
  /** Everything in the tree, submodules included. */
  entries: readonly TreeEntry[];
  /** In git's order; submodules are left out. */
  paths: string[];
  /** Symbolic links with their targets as written; at most 2,000. */
  links: ReadonlyMap<string, string>;
  /** The id of a file's content; null if it does not exist. */
  id(path: string): string | null;
  /** The id that a file with this content has. */
  idOf(content: Buffer): string;
  /** A file as UTF-8; null if it does not exist. One process. */
  read(path: string): Promise<string | null>;
  /** Files as UTF-8, without those larger than 512 KiB. Two processes for any number of files. */
  readAll(paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** Bound on the bytes read from a single file. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024;
/** Bound on each file when many are read at once. */
const MAX_EACH_BYTES = 512 * 1024;
const MAX_LINKS = 2000;
const LINK_MODE = "120000";

/** Two processes (three for a repository given as a path). */
export async function commitFiles(repo: RepoLike, commit: string): Promise<CommitFiles> {
  const opened = await openRepo(repo);
  const store = objectStore(opened);
  requireId(commit);
  const all = await withScratch(store, (scratch) => listCommit(scratch.git.bind(scratch), commit));
  const entries = all.filter((entry) => entry.mode !== GITLINK_MODE);
  const byPath = new Map(entries.map((entry) => [entry.path, entry]));
  const readAll = (paths: readonly string[]): Promise<Map<string, string>> =>
    readTexts(
      store,
      paths.flatMap((path) => byPath.get(path) ?? []),
    );
  const links = entries.filter(({ mode }) => mode === LINK_MODE).slice(0, MAX_LINKS);
  return {
    entries: all,
    paths: entries.map((entry) => entry.path),
    links: links.length === 0 ? new Map() : await readTexts(store, links),
    id: (path) => byPath.get(path)?.id ?? null,
    idOf: (content) => gitObject(formatOf(commit), "blob", content).id,
    readAll,
    async read(path) {
      const entry = byPath.get(path);
      if (entry === undefined) return null;
      return withScratch(store, async (scratch) => {
        const found = await readObjects(scratch.git.bind(scratch), [entry.id], MAX_TEXT_BYTES);
        return found.get(entry.id)?.body.toString("utf8") ?? null;
      });
    },
  };
}

async function readTexts(store: ObjectStore, entries: readonly TreeEntry[]): Promise<Map<string, string>> {
  if (entries.length === 0) return new Map();
  return withScratch(store, async (scratch) => {
    const run = scratch.git.bind(scratch);
    const small = await idsUpTo(
      run,
      entries.map(({ id }) => id),
      MAX_EACH_BYTES,
    );
    const found = await readObjects(run, small, MAX_EACH_BYTES * small.size);
    const texts = new Map<string, string>();
    for (const { path, id } of entries) {
      const body = found.get(id)?.body;
      if (body !== undefined) texts.set(path, body.toString("utf8"));
    }
    return texts;
  });
}
