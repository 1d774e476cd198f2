/**
 * Puts the objects of a tree, which comes as a tar, into an empty repository.
 *
 * A small tar is held, and indexed as one pack. Of a larger one, each file is handed on to `git fast-import` as it comes; the
 * ids are computed here from the same bytes. Git finishes its pack only when the whole archive was read and the tree that it
 * holds is the one that was asked for. A caller gives the repository its name after that.
 */
import { createHash } from "node:crypto";
import { AntiphonError, limits } from "@antiphon/contracts";
import {
  buildTrees,
  formatOf,
  gitObject,
  GITLINK_MODE,
  PathConflict,
  type GitObject,
  type TreeEntry,
} from "../objects/git-object.ts";
import type { EntryChange } from "../objects/directory.ts";
import type { GitRunner } from "../objects/objects.ts";
import { writePack } from "../objects/pack.ts";
import { git } from "../process/git-process.ts";
import { gitFed } from "../process/git-stream.ts";
import type { BaseStep } from "./base-step.ts";
import { readTreeWay } from "./tree-way.ts";
import { TarFault, type TarEntry } from "./tar.ts";
import { readTar } from "./tar-reader.ts";
import { streamedTar, type StreamedEntry } from "./tar-stream.ts";

const BOUNDS = { maxFiles: limits.treeFiles, maxBytes: limits.treeBytes };
/** Larger files are written as they come; git holds smaller ones. */
const BIG_FILE = "4m";

/** @throws AntiphonError ANT_BLOB_CORRUPT when the bytes are not that tree */
export async function importObjects(
  gitDir: string,
  tree: string,
  tar: Buffer | AsyncIterable<Uint8Array>,
  maxHeldBytes: number = limits.treeHeldBytes,
): Promise<void> {
  const whole = Buffer.isBuffer(tar) ? tar : await heldOrStreamed(tar, maxHeldBytes);
  if (Buffer.isBuffer(whole)) await addObjects(gitDir, tree, treeObjects(tree, whole));
  else await addObjects(gitDir, tree, await addFiles(gitDir, tree, whole));
}

async function addObjects(gitDir: string, tree: string, objects: readonly GitObject[]): Promise<void> {
  await git({
    gitDir,
    args: ["index-pack", "--stdin"],
    stdin: writePack(formatOf(tree), objects, "stored"),
    settings: [["core.fsync", "none"]],
  });
}

/** Adds what a step brings to a repository that holds the tree it starts from. @throws AntiphonError ANT_BLOB_CORRUPT */
export async function addStep(gitDir: string, { tree, from, removed, files }: BaseStep): Promise<void> {
  const format = formatOf(tree);
  const blobs = files.map(({ content }) => gitObject(format, "blob", content));
  const changes = [
    ...removed.map((path): EntryChange => [path, null]),
    ...files.map(({ path, mode }, at): EntryChange => [path, { path, mode, id: blobs[at]?.id ?? "" }]),
  ];
  const run: GitRunner = (call) => git({ ...call, gitDir });
  const way = await readTreeWay(
    run,
    from,
    changes.map(([path]) => path),
  );
  const { root, fresh } = way.changed(changes);
  requireRoot(tree, root);
  const objects = new Map([...blobs, ...fresh].map((object) => [object.id, object]));
  if (objects.size > 0) await addObjects(gitDir, tree, [...objects.values()]);
}

/** All bytes if there are no more than that, otherwise a stream that begins with those that were read. */
async function heldOrStreamed(
  source: AsyncIterable<Uint8Array>,
  most: number,
): Promise<Buffer | AsyncIterable<Uint8Array>> {
  const iterator = source[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  for (let bytes = 0; bytes <= most;) {
    const next = await iterator.next();
    if (next.done === true) return Buffer.concat(held, bytes);
    held.push(next.value);
    bytes += next.value.length;
  }
  return rest(held, iterator);
}

async function* rest(held: Uint8Array[], iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (let first = held.shift(); first !== undefined; first = held.shift()) yield first;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}

/** Adds the contents of the files. @returns the trees, which are not added */
async function addFiles(gitDir: string, tree: string, tar: AsyncIterable<Uint8Array>): Promise<GitObject[]> {
  const found: { trees: GitObject[] } = { trees: [] };
  await gitFed({
    gitDir,
    args: ["fast-import", "--quiet", "--done", "--depth=0"],
    settings: [
      ["core.fsync", "none"],
      ["core.compression", "0"],
      ["core.bigFileThreshold", BIG_FILE],
      ["fastimport.unpackLimit", "0"],
    ],
    input: commands(tree, tar, found),
  }).catch(corrupt(tree));
  return found.trees;
}

/** What fast-import reads. It ends with `done` only if the archive holds the tree. */
async function* commands(
  tree: string,
  tar: AsyncIterable<Uint8Array>,
  found: { trees: GitObject[] },
): AsyncGenerator<Uint8Array> {
  const format = formatOf(tree);
  const entries: TreeEntry[] = [];
  for await (const { path, mode, size, pieces } of streamedTar(tar, BOUNDS)) {
    if (mode === GITLINK_MODE) {
      entries.push({ path, mode, id: await textOf(pieces) });
      continue;
    }
    const hash = createHash(format).update(`blob ${size}\0`);
    yield Buffer.from(`blob\ndata ${size}\n`);
    for await (const piece of pieces) {
      hash.update(piece);
      yield piece;
    }
    yield Buffer.from("\n");
    entries.push({ path, mode, id: hash.digest("hex") });
  }
  const { root, trees } = buildTrees(format, entries);
  requireRoot(tree, root);
  found.trees = [...trees.values()];
  yield Buffer.from("done\n");
}

async function textOf(pieces: StreamedEntry["pieces"]): Promise<string> {
  const parts: Buffer[] = [];
  for await (const piece of pieces) parts.push(piece);
  return Buffer.concat(parts).toString("latin1");
}

/** Every object of the tree. */
function treeObjects(tree: string, tar: Buffer): GitObject[] {
  const format = formatOf(tree);
  const objects = new Map<string, GitObject>();
  try {
    const entries = readTar(tar, BOUNDS).map((file: TarEntry): TreeEntry => {
      if (file.mode === GITLINK_MODE)
        return { path: file.path, mode: file.mode, id: file.content.toString("latin1") };
      const blob = gitObject(format, "blob", file.content);
      objects.set(blob.id, blob);
      return { path: file.path, mode: file.mode, id: blob.id };
    });
    const { root, trees } = buildTrees(format, entries);
    requireRoot(tree, root);
    return [...objects.values(), ...trees.values()];
  } catch (thrown) {
    return corrupt(tree)(thrown);
  }
}

function requireRoot(tree: string, root: string): void {
  if (root !== tree)
    throw new AntiphonError("ANT_BLOB_CORRUPT", `the archive of tree ${tree} holds tree ${root}`);
}

function corrupt(tree: string): (thrown: unknown) => never {
  return (thrown) => {
    if (!(thrown instanceof TarFault || thrown instanceof PathConflict)) throw thrown;
    throw new AntiphonError("ANT_BLOB_CORRUPT", `the archive of tree ${tree}: ${thrown.message}`, {
      cause: thrown,
    });
  };
}
