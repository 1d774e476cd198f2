/**
 * The trees of a listing, and those of a change of it. A change makes only the trees on the way to its paths, so it
 * costs the same in a repository of any size, once the trees of the listing are known.
 */
import { treeObject, PathConflict, type GitObject, type ObjectFormat, type TreeEntry } from "./git-object.ts";

/** Null: the path is gone. */
export type EntryChange = readonly [path: string, entry: TreeEntry | null];

interface Directory {
  readonly files: Map<string, TreeEntry>;
  readonly directories: Map<string, Directory>;
  id: string;
}

export class KnownTrees {
  readonly byPath: ReadonlyMap<string, TreeEntry>;
  readonly #format: ObjectFormat;
  readonly #root: Directory = { files: new Map(), directories: new Map(), id: "" };
  readonly #ids = new Set<string>();

  /** @throws PathConflict when a path is a file and a directory at once */
  constructor(format: ObjectFormat, entries: readonly TreeEntry[]) {
    this.#format = format;
    this.byPath = new Map(entries.map((entry) => [entry.path, entry]));
    for (const entry of entries) this.#insert(entry);
    this.#name(this.#root);
  }

  /**
   * The root of the changed tree, and its trees that the listing has nowhere.
   * @throws PathConflict as the constructor
   */
  changed(changes: readonly EntryChange[]): { root: string; fresh: GitObject[] } {
    const fresh = new Map<string, GitObject>();
    const root = this.#changed(this.#root, changes, 0, fresh);
    return {
      root: root === null ? this.#tree({ files: new Map(), directories: new Map(), id: "" }, fresh) : root.id,
      fresh: [...fresh.values()],
    };
  }

  #insert(entry: TreeEntry): void {
    const parts = entry.path.split("/");
    const name = parts.pop() ?? "";
    let directory = this.#root;
    for (const part of parts) {
      if (directory.files.has(part)) throw new PathConflict(entry.path);
      let next = directory.directories.get(part);
      if (next === undefined) {
        next = { files: new Map(), directories: new Map(), id: "" };
        directory.directories.set(part, next);
      }
      directory = next;
    }
    if (directory.directories.has(name)) throw new PathConflict(entry.path);
    directory.files.set(name, entry);
  }

  #name(directory: Directory): void {
    for (const child of directory.directories.values()) this.#name(child);
    directory.id = treeObject(this.#format, rowsOf(directory)).id;
    this.#ids.add(directory.id);
  }

  /** Null: nothing is left of the directory. `at`: where the names within it begin in each path. */
  #changed(
    before: Directory | null,
    changes: readonly EntryChange[],
    at: number,
    fresh: Map<string, GitObject>,
  ): Directory | null {
    const files = new Map(before?.files);
    const directories = new Map(before?.directories);
    const below = new Map<string, EntryChange[]>();
    for (const change of changes) {
      const [path, entry] = change;
      const end = path.indexOf("/", at);
      const name = end < 0 ? path.slice(at) : path.slice(at, end);
      if (end >= 0) below.set(name, [...(below.get(name) ?? []), change]);
      else if (entry === null) files.delete(name);
      else files.set(name, entry);
    }
    for (const [name, own] of below) {
      const next = this.#changed(directories.get(name) ?? null, own, at + name.length + 1, fresh);
      if (next === null) directories.delete(name);
      else directories.set(name, next);
    }
    refuseConflicts(changes, at, files, directories);
    if (files.size + directories.size === 0) return null;
    const directory = { files, directories, id: "" };
    directory.id = this.#tree(directory, fresh);
    return directory;
  }

  #tree(directory: Directory, fresh: Map<string, GitObject>): string {
    const tree = treeObject(this.#format, rowsOf(directory));
    if (!this.#ids.has(tree.id)) fresh.set(tree.id, tree);
    return tree.id;
  }
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
