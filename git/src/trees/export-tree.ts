/**
 * Exports a commit's tree as a canonical tar. Two processes (`ls-tree`, `cat-file --batch`) for any number of files.
 * `git archive` is not used because it obeys export-ignore and export-subst.
 *
 * A small tree is held in memory. Of a larger one the sizes are read first, so that one over a limit is refused before a byte
 * of it is stored; then it is streamed, one piece at a time, as often as its reader needs it.
 *
 * The returned `tree` is computed from the listing that the tar is made of, so `TreeCache.importTree` will find the same id. It
 * equals the commit's own tree, except for trees that current git does not write (empty directories, padded modes).
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import {
  buildTrees,
  GITLINK_MODE,
  PathConflict,
  type ObjectFormat,
  type TreeEntry,
} from "../objects/git-object.ts";
import { listCommit, readObjects, sizesOf, streamObjects } from "../objects/objects.ts";
import { objectStore, openRepo, type RepoLike } from "../repository/repo.ts";
import {
  requireId,
  streamScratch,
  withScratch,
  type ObjectStore,
  type Scratch,
} from "../repository/scratch.ts";
import { hasAttributes } from "../linked/lfs-paths.ts";
import { requirePlainNames } from "./plain-names.ts";
import { hasTarget } from "./tar.ts";
import { TAR_END, tarHead, tarPadding, writeTar } from "./tar-writer.ts";

export interface ExportedTree {
  tree: string;
  /** A function: it is too large to be held, and each call reads it again. */
  tar: Buffer | (() => AsyncIterable<Buffer>);
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
  /** Bound on all contents together. */
  maxBytes?: number;
  /** Contents that together have more bytes are streamed. */
  maxHeldBytes?: number;
  /** All entries of the commit's tree, where somebody lists them anyway. Absent: one more process. */
  listing?: Promise<readonly TreeEntry[]>;
}

/** The target of a symbolic link has to fit into a header. */
const MAX_TARGET_BYTES = 32 * 1024;

/** @throws AntiphonError ANT_REPO_TOO_LARGE, ANT_REPO_INCOMPLETE, ANT_REPO_UNREADABLE */
export async function exportTree(
  repo: RepoLike,
  commit: string,
  bounds: ExportBounds = {},
): Promise<ExportedTree> {
  requireId(commit);
  const store = objectStore(await openRepo(repo));
  return withScratch(store, async (scratch) => {
    const run = scratch.git.bind(scratch);
    const entries = await (bounds.listing ?? listCommit(run, commit));
    const blobs = entries.filter((entry) => entry.mode !== GITLINK_MODE);
    const maxFiles = bounds.maxFiles ?? limits.treeFiles;
    if (entries.length > maxFiles) throw tooLarge(commit, `${entries.length} files`, `${maxFiles} files`);
    const tree = rootOf(store.format, entries);
    const { tar, bytes } = await tarOf(store, scratch, entries, bounds).catch(refusedFor(commit));
    const gitlinks = entries.filter((entry) => entry.mode === GITLINK_MODE).map((entry) => entry.path);
    return { tree, tar, files: blobs.length, bytes, gitlinks, hasAttributes: hasAttributes(entries) };
  });
}

async function tarOf(
  store: ObjectStore,
  scratch: Scratch,
  entries: readonly TreeEntry[],
  bounds: ExportBounds,
): Promise<Pick<ExportedTree, "tar" | "bytes">> {
  const maxBytes = bounds.maxBytes ?? limits.treeBytes;
  const held = await heldTar(
    scratch,
    entries,
    Math.min(bounds.maxHeldBytes ?? limits.treeHeldBytes, maxBytes),
  );
  if (held !== null) return { tar: held, bytes: held.length };
  const ids = entries.flatMap(({ mode, id }) => (mode === GITLINK_MODE ? [] : [id]));
  const sizes = await sizesOf(scratch.git.bind(scratch), ids);
  const sizeOf = ({ mode, id }: TreeEntry): number =>
    mode === GITLINK_MODE ? id.length : (sizes.get(id) ?? 0);
  const contents = entries.reduce((sum, entry) => sum + sizeOf(entry), 0);
  if (contents > maxBytes) throw new OverBound(contents, maxBytes);
  const bytes = entries.reduce((sum, entry) => sum + spaceOf(entry, sizeOf(entry)), TAR_END.length);
  return { bytes, tar: () => streamScratch(store, (opened) => streamedTar(opened, entries)) };
}

/** Null: the contents are over the bound, counting a content once for each file that has it. */
async function heldTar(
  scratch: Scratch,
  entries: readonly TreeEntry[],
  maxBytes: number,
): Promise<Buffer | null> {
  const ids = entries.flatMap(({ mode, id }) => (mode === GITLINK_MODE ? [] : [id]));
  try {
    const contents = await readObjects(scratch.git.bind(scratch), ids, maxBytes);
    const files = entries.map((entry) => ({
      ...entry,
      content:
        entry.mode === GITLINK_MODE
          ? Buffer.from(entry.id)
          : (contents.get(entry.id)?.body ?? Buffer.alloc(0)),
    }));
    const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
    return bytes > maxBytes ? null : writeTar(files);
  } catch (thrown) {
    if (thrown instanceof AntiphonError && thrown.code === "ANT_GIT_OUTPUT_LIMIT") return null;
    throw thrown;
  }
}

async function* streamedTar(scratch: Scratch, entries: readonly TreeEntry[]): AsyncGenerator<Buffer> {
  const blobs = entries.filter(({ mode }) => mode !== GITLINK_MODE);
  const objects = streamObjects(
    scratch,
    blobs.map(({ id }) => id),
  );
  try {
    for (const entry of entries) {
      if (entry.mode === GITLINK_MODE) {
        yield* tarHead(entry, Buffer.from(entry.id), 0);
        continue;
      }
      const next = await objects.next();
      if (next.done === true) throw new AntiphonError("ANT_REPO_INCOMPLETE", `object ${entry.id} is missing`);
      const { size, whole, pieces } = next.value;
      if (hasTarget(entry.mode)) {
        yield* tarHead(entry, await whole(), 0);
        continue;
      }
      yield* tarHead(entry, null, size);
      yield* pieces();
      yield tarPadding(size);
    }
    await objects.next(); // Git's last word: whether it ended well.
    yield TAR_END;
  } finally {
    await objects.return(undefined);
  }
}

/** The bytes of an entry in the tar. */
function spaceOf(entry: TreeEntry, size: number): number {
  if (entry.mode === "120000" && size > MAX_TARGET_BYTES)
    throw new AntiphonError("ANT_REPO_UNREADABLE", `${entry.path} is a link with a target of ${size} bytes`);
  // The target itself is not needed: its length decides how many headers there are.
  const target = hasTarget(entry.mode) ? Buffer.alloc(size) : null;
  const head = tarHead(entry, target, 0).reduce((sum, part) => sum + part.length, 0);
  return head + (target === null ? size + tarPadding(size).length : 0);
}

/** The id of the tree that a listing is of. */
export function rootOf(format: ObjectFormat, entries: readonly TreeEntry[]): string {
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

class OverBound extends Error {
  readonly actual: number;
  readonly most: number;
  constructor(actual: number, most: number) {
    super(`${actual} bytes`);
    this.actual = actual;
    this.most = most;
  }
}

function refusedFor(commit: string): (thrown: unknown) => never {
  return (thrown) => {
    if (!(thrown instanceof OverBound)) throw thrown;
    throw tooLarge(commit, `${thrown.actual} bytes of files`, `${thrown.most} bytes`);
  };
}

function tooLarge(commit: string, actual: string, most: string): AntiphonError {
  return new AntiphonError("ANT_REPO_TOO_LARGE", `${commit} has ${actual}; the limit is ${most}`);
}
