/**
 * Base trees on this machine's disk: for each, the tar from the object store and an index of its entries.
 *
 * A tree becomes visible only when it is whole: it is written to a second file, checked entry by entry, flushed and then
 * renamed, so a power cut cannot leave half of one. Beyond `maxBytes`, the least recently used trees are evicted. Two
 * jobs that need the same tree at the same time fetch it once.
 *
 * An opened tree can be read at any later time: if it was evicted in the meantime, it is fetched again.
 */
import { createHash } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat, utimes, writeFile, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { LRUCache } from "lru-cache";
import { AntiphonError, keys, limits } from "@antiphon/contracts";
import { formatOf, readStep, stepNamed, type BaseStep } from "@antiphon/git";
import type { Baseline } from "./collected.ts";
import { steppedTree } from "./stepped-tree.ts";
import { TarReader } from "./tar-reader.ts";
import type { WritableFile } from "./tar-writer.ts";
import { IndexSink, readIndex, type IndexDocument } from "./tree-index.ts";

export interface TreeSource {
  stream(name: string): AsyncIterable<Buffer>;
}

export interface Tree {
  readonly name: string;
  /** SHA-256 of the tar, in lower-case hex. */
  readonly digest: string;
  readonly baseline: Baseline;
  /** Empty ones, which stand for submodules, sorted. */
  readonly directories: readonly string[];
  /** Sum of the files' sizes. */
  readonly contentBytes: number;
  tar(): AsyncIterable<Buffer>;
  /** Its bytes on the disk are not what they were: the next `open` fetches it again. */
  drop(): Promise<void>;
  /** Of a tree that is a step: the whole tree that it starts from. */
  readonly over?: Tree;
  /** Of a tree that is a step: the files that differ, which are in memory. */
  readonly held?: ReadonlyMap<string, WritableFile>;
}

/** The whole tree of a commit. */
const OF_COMMIT = /^tree-([0-9a-f]{40}|[0-9a-f]{64})\.tar$/;
const READ_BYTES = 256 * 1024;
const INDEXES_IN_MEMORY = 8;
/** Twice as long as a tree may take to arrive. */
const ABANDONED_MS = 2 * limits.treeTransferMs;
/** A tree that was fetched again may be evicted again before it is opened, when jobs share a disk that is too small. */
const OPEN_TRIES = 5;

export class TreeArchive {
  readonly #directory: string;
  readonly #source: TreeSource;
  readonly #maxBytes: number;
  readonly #coming = new Map<string, Promise<Tree>>();
  readonly #recent = new LRUCache<string, Tree>({ max: INDEXES_IN_MEMORY });

  constructor(directory: string, source: TreeSource, maxBytes: number) {
    this.#directory = directory;
    this.#source = source;
    this.#maxBytes = maxBytes;
  }

  async open(name: string): Promise<Tree> {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,200}$/.test(name)) {
      throw new AntiphonError("ANT_SANDBOX_REFUSED", `${JSON.stringify(name)} is not a valid tree name`);
    }
    const recent = this.#recent.get(name);
    if (recent !== undefined && (await this.#used(recent.over?.name ?? name)))
      return this.#keep(name, recent);
    let coming = this.#coming.get(name); // fetched once for all callers
    if (coming === undefined) {
      coming = this.#load(name).finally(() => this.#coming.delete(name));
      this.#coming.set(name, coming);
    }
    return this.#keep(name, await coming);
  }

  /** Removes what killed processes left, and the trees beyond the bound. */
  async sweep(): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    await this.#evict(null);
  }

  #keep(name: string, tree: Tree): Tree {
    this.#recent.set(name, tree);
    return tree;
  }

  async #load(name: string): Promise<Tree> {
    const step = stepNamed(name);
    if (step !== null) return this.#stepped(name, step);
    const index = await readIndex(this.#indexPath(name));
    if (index !== null && (await this.#used(name))) return this.#treeOf(name, index);
    return this.#treeOf(name, await this.#fetch(name));
  }

  /** A tree that is a step from a whole one: only what differs is fetched, and nothing is written. */
  async #stepped(name: string, named: Pick<BaseStep, "tree" | "from">): Promise<Tree> {
    const whole = keys.tree(named.from);
    let over = await this.open(whole);
    if ((await readIndex(this.#indexPath(whole)))?.ids === undefined) {
      await over.drop(); // An index of an earlier version.
      over = await this.open(whole);
    }
    const index = await readIndex(this.#indexPath(whole));
    const pieces: Buffer[] = [];
    for await (const piece of this.#source.stream(name)) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    const step = readStep(bytes, named);
    if (index?.ids === undefined || index.digest !== over.digest)
      throw new AntiphonError("ANT_BLOB_MISSING", `${whole} went while the step from it was read`);
    return steppedTree(name, over, step, { bytes, ids: index.ids });
  }

  /** Marks the tree as used now, so that it is evicted last. False when it is missing or another job is removing it. */
  async #used(name: string): Promise<boolean> {
    const now = new Date();
    try {
      await utimes(this.#indexPath(name), now, now);
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
    return exists(this.#tarPath(name));
  }

  async #fetch(name: string): Promise<IndexDocument> {
    await mkdir(this.#directory, { recursive: true });
    await this.#evict(null); // A disk that is full has to become free without this tree.
    const partial = join(this.#directory, `.${name}.${process.pid}.${performance.now()}`);
    const [, format = null] = OF_COMMIT.exec(name) ?? [];
    const sink = new IndexSink(format === null ? null : formatOf(format));
    const reader = new TarReader(sink);
    const digest = createHash("sha256");
    let bytes = 0;
    try {
      const file = await open(partial, "wx", 0o600);
      try {
        for await (const piece of this.#source.stream(name)) {
          reader.push(piece);
          digest.update(piece);
          bytes += piece.length;
          await file.writeFile(piece); // at the file's position, and all of it
        }
        await file.sync();
        const { size } = await file.stat();
        if (size !== bytes) throw new Error(`${name}: ${size} of ${bytes} bytes were written`);
      } finally {
        await file.close();
      }
      reader.finish();
      const { contentBytes, entries, directories, ids } = sink;
      const known = ids === null ? {} : { ids };
      const found = { contentBytes, entries, directories: directories.sort(), ...known };
      const index: IndexDocument = { version: 3, digest: digest.digest("hex"), ...found };
      await writeFile(`${partial}.json`, JSON.stringify(index), { mode: 0o600, flush: true });
      await rename(partial, this.#tarPath(name));
      await rename(`${partial}.json`, this.#indexPath(name));
      await this.#evict(name);
      return index;
    } finally {
      await rm(partial, { force: true });
      await rm(`${partial}.json`, { force: true });
    }
  }

  /** Removes what killed processes left, and the trees beyond the bound. A reader of an evicted tree still gets all its bytes: the file is unlinked, not truncated. */
  async #evict(keep: string | null): Promise<void> {
    const trees: { name: string; bytes: number; usedMs: number }[] = [];
    for (const file of await readdir(this.#directory)) {
      if (file.startsWith(".")) await this.#dropAbandoned(join(this.#directory, file));
      if (!file.endsWith(".index.json")) continue;
      const name = file.slice(0, -".index.json".length);
      const tar = await stat(this.#tarPath(name)).catch(() => null);
      const index = await stat(this.#indexPath(name)).catch(() => null);
      if (index !== null) trees.push({ name, bytes: tar?.size ?? 0, usedMs: index.mtimeMs });
    }
    let total = trees.reduce((sum, tree) => sum + tree.bytes, 0);
    for (const tree of trees.sort((a, b) => a.usedMs - b.usedMs)) {
      if (total <= this.#maxBytes) return;
      if (tree.name === keep) continue;
      await this.#drop(tree.name);
      total -= tree.bytes;
    }
  }

  /** The index first: without it the tree is not there. */
  async #drop(name: string): Promise<void> {
    this.#recent.delete(name);
    await rm(this.#indexPath(name), { force: true });
    await rm(this.#tarPath(name), { force: true });
  }

  /** Removes a file that a killed process was still writing. */
  async #dropAbandoned(path: string): Promise<void> {
    const found = await stat(path).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > ABANDONED_MS) await rm(path, { force: true });
  }

  #treeOf(name: string, index: IndexDocument): Tree {
    return {
      name,
      digest: index.digest,
      baseline: new Map(index.entries),
      directories: index.directories,
      contentBytes: index.contentBytes,
      tar: () => this.#bytesOf(name),
      drop: () => this.#drop(name),
    };
  }

  /** Opens the file when the first byte is needed, which may be long after `open`: a sandbox had to be started. */
  async *#bytesOf(name: string): AsyncGenerator<Buffer> {
    const file = await this.#opened(name);
    yield* file.createReadStream({ highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>; // closes the file
  }

  /** Once it is open, the file keeps its bytes even when it is unlinked. */
  async #opened(name: string): Promise<FileHandle> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await open(this.#tarPath(name), "r");
      } catch (error) {
        if (!isMissing(error) || attempt === OPEN_TRIES) throw error;
        await this.open(name); // it was evicted in the meantime
      }
    }
  }

  #tarPath(name: string): string {
    return join(this.#directory, `${name}.tar`);
  }

  #indexPath(name: string): string {
    return join(this.#directory, `${name}.index.json`);
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
