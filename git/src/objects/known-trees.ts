/**
 * The trees of a listing, and those of a change of it. A change costs the same in a repository of any size, once the trees of
 * the listing are known.
 */
import {
  changedTrees,
  emptyDirectory,
  treeOfDirectory,
  type Directory,
  type EntryChange,
} from "./directory.ts";
import { PathConflict, type GitObject, type ObjectFormat, type TreeEntry } from "./git-object.ts";

export class KnownTrees {
  readonly byPath: ReadonlyMap<string, TreeEntry>;
  readonly #format: ObjectFormat;
  readonly #root = emptyDirectory();
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
    return changedTrees(this.#format, this.#root, changes, (id) => this.#ids.has(id));
  }

  #insert(entry: TreeEntry): void {
    const parts = entry.path.split("/");
    const name = parts.pop() ?? "";
    let directory = this.#root;
    for (const part of parts) {
      if (directory.files.has(part)) throw new PathConflict(entry.path);
      let next = directory.directories.get(part);
      if (next === undefined) {
        next = emptyDirectory();
        directory.directories.set(part, next);
      }
      directory = next;
    }
    if (directory.directories.has(name)) throw new PathConflict(entry.path);
    directory.files.set(name, entry);
  }

  #name(directory: Directory): void {
    for (const child of directory.directories.values()) this.#name(child);
    directory.id = treeOfDirectory(this.#format, directory).id;
    this.#ids.add(directory.id);
  }
}
