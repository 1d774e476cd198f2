/**
 * Computes the diff of the files that came out of a sandbox, on the trusted side and from the files themselves. Two
 * processes (index-pack, diff-tree) when the base was listed recently, and two more when there are new files, to obey
 * `.gitignore`.
 *
 * Applied to the base, the patch gives exactly `tree`.
 */
import { AntiphonError } from "@antiphon/contracts";
import { sourceOf } from "./apply-patch.ts";
import type { ChangedTree, OverlayFile } from "./change.ts";
import {
  gitObject,
  PathConflict,
  type GitObject,
  type ObjectFormat,
  type TreeEntry,
} from "../objects/git-object.ts";
import type { EntryChange } from "../objects/directory.ts";
import { KnownTrees } from "../objects/known-trees.ts";
import { ignoredPaths } from "./ignored-files.ts";
import { refuseInSubmodules, refuseLfs } from "../linked/linked-paths.ts";
import { listTree } from "../objects/objects.ts";
import { textDiff } from "./text-diff.ts";
import type { RepoLike } from "../repository/repo.ts";
import { requireId, withScratch, type ObjectSource, type Scratch } from "../repository/scratch.ts";
import { TreeCache } from "../trees/tree-cache.ts";

export interface Overlay {
  files: readonly OverlayFile[];
  deletions: readonly string[];
}

export interface OverlayDiff extends ChangedTree {
  /** Empty when nothing changed. */
  patch: string;
  /** Changed and new paths in the overlay's order, then deleted ones. */
  files_changed: string[];
  /** New files that were left out because the repository ignores them. */
  ignored: string[];
}

/**
 * @throws AntiphonError ANT_SANDBOX_OUTPUT when the overlay cannot form a tree, ANT_PATCH_GITLINK and ANT_PATCH_LFS when
 *   it changes files that the tree only points to, ANT_PATCH_TOO_LARGE when the patch is more than is ever held
 */
export async function diffOverlay(
  source: ObjectSource | RepoLike,
  tree: string,
  overlay: Overlay,
): Promise<OverlayDiff> {
  requireId(tree);
  const objectsFrom = sourceOf(source);
  return objectsFrom.use(tree, (store) =>
    withScratch(store, async (scratch) => {
      const base =
        objectsFrom instanceof TreeCache
          ? await objectsFrom.list(tree)
          : await listTree(scratch.git.bind(scratch), tree);
      refuseInSubmodules(base, [...overlay.files.map(({ path }) => path), ...overlay.deletions]);
      const known = knownTrees(scratch.store.format, base);
      const next = await laidOver(scratch, known.byPath, overlay);
      await refuseLfs(
        scratch,
        tree,
        base,
        next.changed.map(({ path }) => path),
      );
      const { root, objects } = rebuilt(known, next);
      const change = {
        tree: root,
        objects,
        overlay: next.changed,
        deletions: next.deleted,
        ignored: next.ignored,
      };
      if (next.changed.length === 0 && next.deleted.length === 0) {
        return { ...change, tree, patch: "", files_changed: [] };
      }
      await scratch.add(objects);
      const patch = await textDiff(scratch, tree, root);
      return { ...change, patch, files_changed: [...next.changed.map((file) => file.path), ...next.deleted] };
    }),
  );
}

interface LaidOver {
  entries: Map<string, TreeEntry>;
  blobs: Map<string, GitObject>;
  changed: OverlayFile[];
  deleted: string[];
  ignored: string[];
}

/** Deletions first, then files: a sandbox applies the two lists in the same order. */
async function laidOver(
  scratch: Scratch,
  before: ReadonlyMap<string, TreeEntry>,
  overlay: Overlay,
): Promise<LaidOver> {
  const { format } = scratch.store;
  const entries = new Map(before);
  for (const path of overlay.deletions) if (!inDotGit(path)) entries.delete(path);
  const blobs = new Map<string, GitObject>();
  let changed: OverlayFile[] = [];
  for (const file of new Map(overlay.files.map((each) => [each.path, each])).values()) {
    requirePlain(file.path);
    if (inDotGit(file.path)) continue;
    const blob = gitObject(format, "blob", file.content);
    const old = before.get(file.path);
    entries.set(file.path, { path: file.path, mode: file.mode, id: blob.id });
    if (old?.id === blob.id && old.mode === file.mode) continue;
    blobs.set(blob.id, blob);
    changed.push(file);
  }
  const added = changed.map((file) => file.path).filter((path) => !before.has(path));
  const contents = new Map([...blobs].map(([id, blob]) => [id, blob.body]));
  const ignored = await ignoredPaths(scratch, entries.values(), added, contents);
  for (const path of ignored) entries.delete(path);
  changed = changed.filter((file) => !ignored.has(file.path));
  const gone = overlay.deletions.filter((path) => before.has(path) && !entries.has(path));
  const deleted = gone.length === 0 ? [] : inOrder(before, new Set(gone));
  return { entries, blobs, changed, deleted, ignored: [...ignored] };
}

function inOrder(before: ReadonlyMap<string, TreeEntry>, paths: ReadonlySet<string>): string[] {
  return [...before.keys()].filter((path) => paths.has(path));
}

/** A sandbox may run `git init` for itself; its `.git` is never part of a change. */
function inDotGit(path: string): boolean {
  return path.split("/").includes(".git");
}

function requirePlain(path: string): void {
  if (path.split("/").some((name) => name === "" || name === "." || name === "..") || path.includes("\0")) {
    throw new AntiphonError(
      "ANT_SANDBOX_OUTPUT",
      `not a plain relative path: ${JSON.stringify(path.slice(0, 200))}`,
      {
        data: { path },
      },
    );
  }
}

/** The listings of recent bases come from a cache, and so do their trees. */
const KNOWN = new WeakMap<readonly TreeEntry[], KnownTrees>();

function knownTrees(format: ObjectFormat, base: readonly TreeEntry[]): KnownTrees {
  const known = KNOWN.get(base) ?? new KnownTrees(format, base);
  KNOWN.set(base, known);
  return known;
}

/** The new trees, and the blobs that remain in them. */
function rebuilt(known: KnownTrees, next: LaidOver): { root: string; objects: GitObject[] } {
  const written = next.changed.map(({ path }): EntryChange => [path, next.entries.get(path) ?? null]);
  const gone = next.deleted.map((path): EntryChange => [path, null]);
  try {
    const { root, fresh } = known.changed([...gone, ...written]);
    const used = new Set(written.map(([, entry]) => entry?.id));
    return { root, objects: [...[...next.blobs.values()].filter((blob) => used.has(blob.id)), ...fresh] };
  } catch (thrown) {
    if (!(thrown instanceof PathConflict)) throw thrown;
    throw new AntiphonError("ANT_SANDBOX_OUTPUT", thrown.message, {
      data: { path: thrown.path },
      cause: thrown,
    });
  }
}
