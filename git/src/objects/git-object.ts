/** Git objects as values: their ids, and the two kinds this package writes (trees and commits). */
import { createHash } from "node:crypto";
import { byteKey, encodePath } from "./git-path.ts";

export type ObjectFormat = "sha1" | "sha256";
export type ObjectKind = "blob" | "tree" | "commit";

export interface GitObject {
  kind: ObjectKind;
  id: string;
  body: Buffer;
}

/** An entry of a flattened tree. `mode` is git's octal text: 100644, 100755, 120000 (link), 160000 (gitlink). */
export interface TreeEntry {
  path: string;
  mode: string;
  id: string;
}

export const GITLINK_MODE = "160000";

export function isObjectId(text: string): boolean {
  return /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(text);
}

export function formatOf(id: string): ObjectFormat {
  return id.length === 64 ? "sha256" : "sha1";
}

export function zeroId(format: ObjectFormat): string {
  return "0".repeat(format === "sha256" ? 64 : 40);
}

export function gitObject(format: ObjectFormat, kind: ObjectKind, body: Buffer): GitObject {
  const id = createHash(format).update(`${kind} ${body.length}\0`).update(body).digest("hex");
  return { kind, id, body };
}

interface Directory {
  files: Map<string, TreeEntry>;
  directories: Map<string, Directory>;
}

function emptyDirectory(): Directory {
  return { files: new Map(), directories: new Map() };
}

/** Thrown for a path that would be a file and a directory at once, so that callers can name it. */
export class PathConflict extends Error {
  readonly path: string;
  constructor(path: string) {
    super(`${path} is a file and a directory at once`);
    this.path = path;
  }
}

function insert(root: Directory, entry: TreeEntry): void {
  const parts = entry.path.split("/");
  const name = parts.pop() ?? "";
  let directory = root;
  for (const part of parts) {
    if (directory.files.has(part)) throw new PathConflict(entry.path);
    let next = directory.directories.get(part);
    if (next === undefined) {
      next = emptyDirectory();
      directory.directories.set(part, next);
    }
    directory = next;
  }
  if (directory.directories.has(name) || directory.files.has(name)) throw new PathConflict(entry.path);
  directory.files.set(name, entry);
}

const TREE_MODE = "40000";

/** The tree with these entries, in any order; a directory has the mode 40000. */
export function treeObject(
  format: ObjectFormat,
  entries: Iterable<readonly [name: string, mode: string, id: string]>,
): GitObject {
  // Git sorts a directory as if its name ended in a slash.
  const rows = Array.from(entries, ([name, mode, id]) => {
    const key = mode === TREE_MODE ? `${byteKey(name)}/` : byteKey(name);
    return { key, mode, name, id };
  });
  rows.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const body: Buffer[] = [];
  for (const row of rows) {
    body.push(Buffer.from(`${row.mode} `), encodePath(row.name), Buffer.from(`00${row.id}`, "hex"));
  }
  return gitObject(format, "tree", Buffer.concat(body));
}

function writeDirectory(format: ObjectFormat, directory: Directory, trees: Map<string, GitObject>): string {
  const children = Array.from(
    directory.directories,
    ([name, child]) => [name, TREE_MODE, writeDirectory(format, child, trees)] as const,
  );
  const files = Array.from(directory.files, ([name, { mode, id }]) => [name, mode, id] as const);
  const tree = treeObject(format, [...children, ...files]);
  trees.set(tree.id, tree);
  return tree.id;
}

/**
 * Builds the trees of a flattened listing. Returns the root's id and every tree by id.
 * Throws PathConflict when a path is a file and a directory, or is listed twice.
 */
export function buildTrees(
  format: ObjectFormat,
  entries: Iterable<TreeEntry>,
): { root: string; trees: Map<string, GitObject> } {
  const top = emptyDirectory();
  for (const entry of entries) insert(top, entry);
  const trees = new Map<string, GitObject>();
  return { root: writeDirectory(format, top, trees), trees };
}
