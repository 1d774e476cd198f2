/** The difference between two states of an index, and the trees and files that it makes. */
import type { ChangedTree, OverlayFile } from "./change.ts";
import type { TreeEntry } from "../objects/git-object.ts";
import { byteKey } from "../objects/git-path.ts";
import type { GitRunner } from "../objects/objects.ts";
import type { TreeWay } from "../trees/tree-way.ts";
import { readChanged } from "./tree-change.ts";

export interface EntryDifference {
  readonly path: string;
  /** Null: the path does not exist. */
  readonly before: TreeEntry | null;
  readonly after: TreeEntry | null;
}

/** In git's order. */
export function changesOf(
  before: readonly TreeEntry[],
  after: readonly TreeEntry[],
): readonly EntryDifference[] {
  const [old, next] = [byPath(before), byPath(after)];
  const paths = [...new Set([...old.keys(), ...next.keys()])];
  return paths
    .map((path) => ({ path, before: old.get(path) ?? null, after: next.get(path) ?? null }))
    .filter(({ before: one, after: other }) => one?.id !== other?.id || one?.mode !== other?.mode)
    .map((change) => ({ change, key: byteKey(change.path) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ change }) => change);
}

const byPath = (entries: readonly TreeEntry[]): Map<string, TreeEntry> =>
  new Map(entries.map((entry) => [entry.path, entry]));

/** One process. Changed files of more than `maxBytes` together are ANT_PATCH_TOO_LARGE. */
export async function changedTree(
  run: GitRunner,
  way: TreeWay,
  differences: readonly EntryDifference[],
  maxBytes: number,
): Promise<ChangedTree> {
  if (differences.length === 0) return { tree: way.tree, objects: [], overlay: [], deletions: [] };
  const { root, fresh } = way.changed(differences.map(({ path, after }) => [path, after]));
  const written = differences.flatMap(({ after }) => after ?? []);
  const read = await readChanged(
    run,
    written.map(({ id }) => id),
    maxBytes,
  );
  const overlay = written.flatMap(({ path, mode, id }): OverlayFile[] => {
    const content = read.get(id)?.body;
    return content !== undefined && (mode === "100644" || mode === "100755") ? [{ path, mode, content }] : [];
  });
  const deletions = differences.filter(({ after }) => after === null).map(({ path }) => path);
  return { tree: root, objects: [...read.values(), ...fresh], overlay, deletions };
}
