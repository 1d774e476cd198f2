/**
 * A tree that is a small step from a whole one on this machine's disk. Its archive is made when it is read. The id of the whole
 * result is computed from the ids of all files, and must be the one in its name.
 */
import { AntiphonError, limits, sha256Hex } from "@antiphon/contracts";
import { requireTree, stepEntries, steppedTar, type BaseStep, type TreeEntry } from "@antiphon/git";
import type { BaselineEntry } from "./collected.ts";
import { checkPath } from "./path-rule.ts";
import { Refusal } from "./refusal.ts";
import type { WritableFile } from "./tar-writer.ts";
import type { Tree } from "./tree-archive.ts";

const BOUNDS = { maxFiles: limits.treeFiles, maxBytes: limits.treeBytes };

/** @param ids of the whole tree's entries, in their order @throws AntiphonError ANT_BLOB_CORRUPT */
export function steppedTree(
  name: string,
  over: Tree,
  step: BaseStep,
  { bytes, ids }: { readonly bytes: Buffer; readonly ids: readonly string[] },
): Tree {
  const baseline = new Map(over.baseline);
  const entries = new Map<string, TreeEntry>();
  let at = 0;
  for (const [path, entry] of over.baseline) {
    entries.set(path, { path, mode: entry.kind === "file" ? entry.mode : "120000", id: ids[at] ?? "" });
    at += 1;
  }
  for (const path of step.removed) {
    entries.delete(path);
    baseline.delete(path);
  }
  const held = new Map<string, WritableFile>();
  for (const { path, mode, content } of step.files) {
    requirePlain(step.tree, path);
    baseline.set(path, entryOf(mode, content));
    if (mode === "100644" || mode === "100755") held.set(path, { path, mode, content });
  }
  for (const entry of stepEntries(step)) entries.set(entry.path, entry);
  requireTree(step.tree, entries.values());
  return {
    name,
    digest: sha256Hex(`${over.digest} ${sha256Hex(bytes.toString("utf8"))}`),
    baseline,
    directories: over.directories,
    contentBytes: [...baseline.values()].reduce((sum, one) => sum + (one.kind === "file" ? one.size : 0), 0),
    tar: () => steppedTar(over.tar(), step, BOUNDS),
    drop: () => over.drop(),
    over,
    held,
  };
}

function entryOf(mode: string, content: Buffer): BaselineEntry {
  if (mode === "120000") return { kind: "symlink", target: content.toString("utf8") };
  const kept = mode === "100755" ? "100755" : "100644";
  return { kind: "file", mode: kept, size: content.length, sha256: sha256Hex(content) };
}

/** As the reader of archives holds paths to its rules. */
function requirePlain(tree: string, path: string): void {
  try {
    checkPath(path);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new AntiphonError("ANT_BLOB_CORRUPT", `the step to tree ${tree}: ${error.message}`);
  }
}
