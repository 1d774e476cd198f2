/**
 * Exports a commit's tree as a canonical tar. Two processes (`ls-tree`, `cat-file --batch`) for any number of files.
 * `git archive` is not used because it obeys export-ignore and export-subst.
 *
 * The returned `tree` is computed from the contents of the tar, so `TreeCache.importTree` will find the same id. It equals
 * the commit's own tree, except for trees that current git does not write (empty directories, padded modes).
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import {
  buildTrees,
  GITLINK_MODE,
  PathConflict,
  type ObjectFormat,
  type TreeEntry,
} from "../objects/git-object.ts";
import { listCommit, readObjects } from "../objects/objects.ts";
import { objectStore, openRepo, type RepoLike } from "../repository/repo.ts";
import { requireId, withScratch } from "../repository/scratch.ts";
import { hasAttributes } from "../linked/lfs-paths.ts";
import { requirePlainNames } from "./plain-names.ts";
import { writeTar, type TarEntry } from "./tar.ts";

export interface ExportedTree {
  tree: string;
  tar: Buffer;
  files: number;
  /** Size of the tar. */
  bytes: number;
  /** Submodules, each exported as an empty directory. */
  gitlinks: string[];
  /** Its `.gitattributes` may hand files to Git LFS. */
  hasAttributes: boolean;
}

export interface ExportBounds {
  maxFiles?: number;
  /** Bound on all contents together. Default 512 MiB, because the archive is built in memory. */
  maxBytes?: number;
  /** All entries of the commit's tree, where somebody lists them anyway. Absent: one more process. */
  listing?: Promise<readonly TreeEntry[]>;
}

const MAX_BYTES = 512 * 1024 * 1024;

export async function exportTree(
  repo: RepoLike,
  commit: string,
  bounds: ExportBounds = {},
): Promise<ExportedTree> {
  requireId(commit);
  const opened = await openRepo(repo);
  const maxFiles = bounds.maxFiles ?? limits.treeFiles;
  const maxBytes = bounds.maxBytes ?? Math.min(MAX_BYTES, limits.treeBytes);
  return withScratch(objectStore(opened), async (scratch) => {
    const run = scratch.git.bind(scratch);
    const entries = await (bounds.listing ?? listCommit(run, commit));
    if (entries.length > maxFiles) {
      throw new AntiphonError("ANT_REPO_UNREADABLE", `${entries.length} files; the bound is ${maxFiles}`);
    }
    const tree = rootOf(opened.format, entries);
    const blobs = entries.filter((entry) => entry.mode !== GITLINK_MODE);
    const contents = await readObjects(
      run,
      blobs.map((entry) => entry.id),
      maxBytes,
    ).catch(tooLarge(maxBytes));
    const tar = writeTar(entries.map((entry) => tarEntry(entry, contents)));
    const gitlinks = entries.filter((entry) => entry.mode === GITLINK_MODE).map((entry) => entry.path);
    return {
      tree,
      tar,
      files: blobs.length,
      bytes: tar.length,
      gitlinks,
      hasAttributes: hasAttributes(entries),
    };
  });
}

function rootOf(format: ObjectFormat, entries: readonly TreeEntry[]): string {
  requirePlainNames(entries);
  try {
    return buildTrees(format, entries).root;
  } catch (thrown) {
    if (!(thrown instanceof PathConflict)) throw thrown;
    throw new AntiphonError("ANT_REPO_UNREADABLE", `its tree is malformed: ${thrown.message}`, {
      cause: thrown,
    });
  }
}

function tarEntry(entry: TreeEntry, contents: ReadonlyMap<string, { body: Buffer }>): TarEntry {
  const content = entry.mode === GITLINK_MODE ? Buffer.from(entry.id) : contents.get(entry.id)?.body;
  return { path: entry.path, mode: entry.mode, content: content ?? Buffer.alloc(0) };
}

function tooLarge(maxBytes: number): (thrown: unknown) => never {
  return (thrown) => {
    if (!(thrown instanceof AntiphonError) || thrown.code !== "ANT_GIT_OUTPUT_LIMIT") throw thrown;
    throw new AntiphonError("ANT_REPO_UNREADABLE", `the tree holds more than ${maxBytes} bytes`, {
      cause: thrown,
    });
  };
}
