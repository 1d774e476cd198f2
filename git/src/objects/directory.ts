/** Directories of a tree in memory. A change of them makes only the trees on the way to its paths. */
import { PathConflict, treeObject, type GitObject, type ObjectFormat, type TreeEntry } from "./git-object.ts";

/** Null: the path is gone. */
export type EntryChange = readonly [path: string, entry: TreeEntry | null];

export interface Directory {
  readonly files: Map<string, TreeEntry>;
  readonly directories: Map<string, Directory>;
  id: string;
}

export function emptyDirectory(id = ""): Directory {
  return { files: new Map(), directories: new Map(), id };
}

/** The tree of a directory whose own directories have their ids. */
export function treeOfDirectory(format: ObjectFormat, directory: Directory): GitObject {
  return treeObject(format, rowsOf(directory));
}

/**
 * The root of the changed tree, and its trees that are not known. `root` itself stays as it is.
 * @throws PathConflict when a path would be a file and a directory at once
 */
export function changedTrees(
  format: ObjectFormat,
  root: Directory,
  changes: readonly EntryChange[],
  isKnown: (id: string) => boolean,
): { root: string; fresh: GitObject[] } {
  const fresh = new Map<string, GitObject>();
  const named = (directory: Directory): string => {
    const tree = treeOfDirectory(format, directory);
    if (!isKnown(tree.id)) fresh.set(tree.id, tree);
    return tree.id;
  };
  const after = changed(root, changes, 0, named);
  return { root: after === null ? named(emptyDirectory()) : after.id, fresh: [...fresh.values()] };
}

/** Null: nothing is left of the directory. `at`: where the names within it begin in each path. */
function changed(
  before: Directory | null,
  changes: readonly EntryChange[],
  at: number,
  named: (directory: Directory) => string,
): Directory | null {
  const files = new Map(before?.files);
  const directories = new Map(before?.directories);
  const below = new Map<string, EntryChange[]>();
  for (const change of changes) {
    const [path, entry] = change;
    const end = path.indexOf("/", at);
    const name = end < 0 ? path.slice(at) : path.slice(at, end);
    if (end >= 0) {
      const own = below.get(name);
      if (own === undefined) below.set(name, [change]);
      else own.push(change);
    } else if (entry === null) files.delete(name);
    else files.set(name, entry);
  }
  for (const [name, own] of below) {
    const next = changed(directories.get(name) ?? null, own, at + name.length + 1, named);
    if (next === null) directories.delete(name);
    else directories.set(name, next);
  }
  refuseConflicts(changes, at, files, directories);
  if (files.size + directories.size === 0) return null;
  const directory = { files, directories, id: "" };
  directory.id = named(directory);
  return directory;
}

function refuseConflicts(
  changes: readonly EntryChange[],
  at: number,
  files: ReadonlyMap<string, TreeEntry>,
  directories: ReadonlyMap<string, Directory>,
): void {
  for (const [path, entry] of changes) {
    if (entry === null) continue;
    const [name = ""] = path.slice(at).split("/", 1);
    if (files.has(name) && directories.has(name)) throw new PathConflict(path);
  }
}

function* rowsOf({
  files,
  directories,
}: Directory): Generator<readonly [name: string, mode: string, id: string]> {
  for (const [name, { id }] of directories) yield [name, "40000", id];
  for (const [name, { mode, id }] of files) yield [name, mode, id];
}
