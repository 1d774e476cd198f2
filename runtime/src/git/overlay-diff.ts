/**
 * S5: the diff of what came out of a sandbox, made on the trusted side from the files themselves. Two processes
 * (index-pack, diff-tree) when the base was listed lately, else three.
 *
 * The patch is UTF-8: a file whose text is in another encoding goes into it as a binary change, so that the
 * patch survives being a JSON string. Applied to the base it gives exactly `tree`.
 */
import { isUtf8 } from "node:buffer";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AntiphonError, limits } from "@antiphon/contracts";
import { sourceOf } from "./apply-patch.ts";
import type { ChangedTree, OverlayFile } from "./change.ts";
import { buildTrees, gitObject, PathConflict, type GitObject, type TreeEntry } from "./git-object.ts";
import { listTree } from "./objects.ts";
import { parsePatch } from "./patch-parser.ts";
import { quotePath } from "./git-path.ts";
import type { RepoLike } from "./repo.ts";
import { requireId, withScratch, type ObjectSource, type Scratch } from "./scratch.ts";
import { TreeCache } from "./tree-cache.ts";

export interface Overlay {
  files: readonly OverlayFile[];
  deletions: readonly string[];
}

export interface OverlayDiff extends ChangedTree {
  /** Empty when nothing changed. */
  patch: string;
  /** Changed, new and deleted paths, sorted by git's order of the new tree, deletions last. */
  files_changed: string[];
}

/** What a rename search may compare: beyond this only exact renames are found. */
const RENAME_LIMIT = "400";

const DIFF = [
  "diff-tree",
  "-r",
  "-p",
  "--binary",
  "--full-index",
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--src-prefix=a/",
  "--dst-prefix=b/",
  "--find-renames=50%",
  `-l${RENAME_LIMIT}`,
];

/** @throws AntiphonError ANT_SANDBOX_OUTPUT when the overlay cannot be a tree; ANT_PATCH_TOO_LARGE */
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
      const next = laidOver(scratch, base, overlay);
      if (next.root === next.baseRoot) {
        return { tree, patch: "", files_changed: [], objects: [], overlay: [], deletions: [] };
      }
      await scratch.add(next.objects);
      const patch = await textDiff(scratch, next.baseRoot === tree ? tree : tree, next.root);
      return {
        tree: next.root,
        patch,
        files_changed: [...next.changed.map((file) => file.path), ...next.deleted],
        objects: next.objects,
        overlay: next.changed,
        deletions: next.deleted,
      };
    }),
  );
}

interface LaidOver {
  root: string;
  baseRoot: string;
  objects: GitObject[];
  changed: OverlayFile[];
  deleted: string[];
}

/** Deletions first, then files: what a sandbox does with the same two lists. */
function laidOver(scratch: Scratch, base: readonly TreeEntry[], overlay: Overlay): LaidOver {
  const { format } = scratch.store;
  const entries = new Map(base.map((entry) => [entry.path, entry]));
  const deleted = [...new Set(overlay.deletions)].filter((path) => entries.has(path));
  for (const path of deleted) entries.delete(path);
  const objects = new Map<string, GitObject>();
  const changed: OverlayFile[] = [];
  for (const file of overlay.files) {
    const blob = gitObject(format, "blob", file.content);
    const before = base.length > 0 ? entries.get(file.path) : undefined;
    if (before?.id === blob.id && before.mode === file.mode) continue;
    entries.set(file.path, { path: file.path, mode: file.mode, id: blob.id });
    objects.set(blob.id, blob);
    changed.push(file);
  }
  try {
    const { root, trees } = buildTrees(format, entries.values());
    const known = buildTrees(format, base);
    for (const [id, tree] of trees) if (!known.trees.has(id)) objects.set(id, tree);
    const still = new Set(changed.map((file) => file.path));
    return {
      root,
      baseRoot: known.root,
      objects: [...objects.values()],
      changed,
      deleted: deleted.filter((path) => !still.has(path)),
    };
  } catch (thrown) {
    if (!(thrown instanceof PathConflict)) throw thrown;
    throw new AntiphonError("ANT_SANDBOX_OUTPUT", thrown.message, {
      data: { path: thrown.path },
      cause: thrown,
    });
  }
}

async function textDiff(scratch: Scratch, before: string, after: string): Promise<string> {
  const first = await scratch.git({ args: [...DIFF, before, after], maxOutputBytes: limits.treeBytes });
  if (isUtf8(first)) return first.toString("utf8");
  // The rare way: name the files in another encoding as binary, in the scratch's own attributes, and ask again.
  await mkdir(join(scratch.gitDir, "info"), { recursive: true });
  await writeFile(join(scratch.gitDir, "info", "attributes"), otherEncodings(first));
  const second = await scratch.git({ args: [...DIFF, before, after], maxOutputBytes: limits.treeBytes });
  if (isUtf8(second)) return second.toString("utf8");
  await writeFile(join(scratch.gitDir, "info", "attributes"), "* -diff\n");
  return (await scratch.git({ args: [...DIFF, before, after] })).toString("utf8");
}

/** An attributes line for each file whose section is not UTF-8. */
function otherEncodings(patch: Buffer): string {
  const bounds = { maxBytes: limits.treeBytes, maxFiles: limits.treeFiles, maxBinaryBytes: limits.treeBytes };
  const files = parsePatch(patch, bounds);
  const starts: number[] = [0];
  for (let at = patch.indexOf(10); at !== -1; at = patch.indexOf(10, at + 1)) starts.push(at + 1);
  const lines: string[] = [];
  files.forEach((file, index) => {
    const from = starts[file.line - 1] ?? 0;
    const to = starts[(files[index + 1]?.line ?? starts.length) - 1] ?? patch.length;
    if (isUtf8(patch.subarray(from, to))) return;
    for (const path of new Set([file.oldPath, file.newPath])) {
      if (path !== null) lines.push(`${attributePattern(path)} -diff\n`);
    }
  });
  return lines.join("");
}

/** Wildcards escaped, anchored, and quoted as git quotes names. */
function attributePattern(path: string): string {
  const quoted = quotePath(`/${path.replace(/[\\*?[\]]/g, "\\$&")}`);
  return quoted.startsWith('"') ? quoted : `"${quoted}"`;
}
