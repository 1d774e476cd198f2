/**
 * A cache of base trees on local disk, for a service without access to the user's repository. Each tree is a bare
 * repository of its own, `<dir>/<treeId>.git`, with one pack, so dropping one tree never harms another.
 *
 * Lifecycle of a tree: absent -> incoming (a temp directory) -> cached (renamed into place) -> dropped. A crash leaves a
 * temp directory, which is swept after an hour. If two processes import the same tree, both succeed and one copy stays.
 *
 * Of the trees that are too many, the least recently used go first.
 *
 * Promises:
 *   git/G5 Because a service builds on a cached tree without asking again, the cache computes a tree's id from the
 *     bytes that came in, has a tree entirely or not at all (also after a crash or a power cut), and stays within
 *     `maxTrees` and `maxBytes`, but drops no tree that was used in the last ten minutes.
 */
import { randomBytes } from "node:crypto";
import { link, mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { AntiphonError, limits } from "@antiphon/contracts";
import { flushAll } from "../disk/flush.ts";
import { formatOf, GITLINK_MODE, type TreeEntry } from "../objects/git-object.ts";
import { git } from "../process/git-process.ts";
import { listTree, readObjects, type GitRunner } from "../objects/objects.ts";
import { layOutRepository, requireId, type ObjectSource, type ObjectStore } from "../repository/scratch.ts";
import type { BaseStep } from "./base-step.ts";
import { addStep, importObjects } from "./tree-import.ts";

export interface TreeCacheBounds {
  maxTrees?: number;
  maxBytes?: number;
  /** Archives with more bytes are streamed. Default limits.treeHeldBytes. */
  maxHeldBytes?: number;
}

const MAX_TREES = 64;
/** A tree of the largest size, and the one after it. */
const MAX_BYTES = 2 * limits.treeBytes;
const MAX_FILE_BYTES = 512 * 1024 * 1024;
const KEEP_MS = 10 * 60_000;
const STALE_MS = 60 * 60_000;
const LISTINGS = 8;
const INCOMING = ".incoming-";

export class TreeCache implements ObjectSource {
  readonly dir: string;
  readonly #maxTrees: number;
  readonly #maxBytes: number;
  readonly #maxHeldBytes: number;
  readonly #inUse = new Map<string, number>();
  readonly #listings = new Map<string, Promise<TreeEntry[]>>();

  constructor(dir: string, bounds: TreeCacheBounds = {}) {
    this.dir = dir;
    this.#maxTrees = bounds.maxTrees ?? MAX_TREES;
    this.#maxBytes = bounds.maxBytes ?? MAX_BYTES;
    this.#maxHeldBytes = bounds.maxHeldBytes ?? limits.treeHeldBytes;
  }

  async has(tree: string): Promise<boolean> {
    return (await stat(join(this.#place(tree), "HEAD")).catch(() => null)) !== null;
  }

  /**
   * Imports the canonical tar of a tree. One process, two for a large one, or none when it is cached already.
   * @throws AntiphonError ANT_BLOB_CORRUPT when the bytes are not that tree (git/G5)
   */
  async importTree(tree: string, tar: Buffer | AsyncIterable<Uint8Array>): Promise<void> {
    requireId(tree);
    if (await this.has(tree)) return this.#touch(tree);
    await mkdir(this.dir, { recursive: true });
    await this.#sweep(); // A disk that is full has to become free without this tree.
    const incoming = this.#aside();
    try {
      await layOutRepository(incoming, { format: formatOf(tree) });
      await importObjects(incoming, tree, tar, this.#maxHeldBytes);
      await flushAll(incoming); // git/G5: the bytes are on disk before the name
      await this.#name(incoming, tree);
      await this.#touch(tree); // The directory is as old as the import, which may take minutes.
    } catch (thrown) {
      // Another process renamed the same tree into place first.
      if (!(await this.has(tree))) throw thrown;
    } finally {
      await rm(incoming, { recursive: true, force: true });
    }
    await this.#sweep();
  }

  /**
   * Imports a tree that differs little from a cached one. It shares that one's pack by a second name, so each may be dropped.
   * @throws AntiphonError ANT_BLOB_MISSING when that one is not cached, ANT_BLOB_CORRUPT when the step leads elsewhere (git/G5)
   */
  async importStep(step: BaseStep): Promise<void> {
    const { tree, from } = step;
    requireId(tree);
    if (await this.has(tree)) return this.#touch(tree);
    const incoming = this.#aside();
    try {
      await this.use(from, async () => {
        await layOutRepository(incoming, { format: formatOf(tree) });
        await sharePacks(this.#place(from), incoming);
        await addStep(incoming, step);
      });
      await flushAll(incoming); // git/G5: the bytes are on disk before the name
      await this.#name(incoming, tree);
      await this.#touch(tree);
    } catch (thrown) {
      if (!(await this.has(tree))) throw thrown;
    } finally {
      await rm(incoming, { recursive: true, force: true });
    }
    await this.#sweep();
  }

  /** Removes what killed processes left, and the trees beyond the bounds. */
  async sweep(): Promise<void> {
    await mkdir(this.dir, { recursive: true });
    await this.#sweep();
  }

  /** A temp path that no reader uses and that is swept. */
  #aside(): string {
    return join(this.dir, `${INCOMING}${randomBytes(8).toString("hex")}`);
  }

  async #name(incoming: string, tree: string): Promise<void> {
    try {
      await rename(incoming, this.#place(tree));
    } catch (thrown) {
      const taken = ["ENOTEMPTY", "EEXIST"].includes((thrown as NodeJS.ErrnoException).code ?? "");
      if (!taken || (await this.has(tree))) throw thrown;
      await this.#remove(this.#place(tree)); // git/G5: incomplete, so it is replaced
      await rename(incoming, this.#place(tree));
    }
  }

  /** Renames first, so that the tree loses its name before any of its files. Another process may remove it meanwhile. */
  async #remove(place: string): Promise<void> {
    const aside = this.#aside();
    try {
      await rename(place, aside);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "ENOENT") throw thrown;
    }
    await rm(aside, { recursive: true, force: true });
  }

  /** The files of a cached tree. One process, or none when it was listed recently. */
  list(tree: string): Promise<TreeEntry[]> {
    const known = this.#listings.get(requireId(tree));
    if (known !== undefined) return known;
    const listing = this.use(tree, () => listTree(this.#runner(tree), tree));
    this.#listings.set(tree, listing);
    listing.catch(() => this.#listings.delete(tree));
    for (const oldest of this.#listings.keys()) {
      if (this.#listings.size <= LISTINGS) break;
      this.#listings.delete(oldest);
    }
    return listing;
  }

  /** The bytes of one file; null when the tree has no such file. One process, and one for the listing. */
  async readFile(tree: string, path: string): Promise<Buffer | null> {
    const entry = (await this.list(tree)).find((candidate) => candidate.path === path);
    if (entry === undefined || entry.mode === GITLINK_MODE) return null;
    const read = await this.use(tree, () => readObjects(this.#runner(tree), [entry.id], MAX_FILE_BYTES));
    return read.get(entry.id)?.body ?? null;
  }

  async use<T>(tree: string, body: (store: ObjectStore) => Promise<T>): Promise<T> {
    this.#inUse.set(tree, (this.#inUse.get(tree) ?? 0) + 1);
    try {
      if (!(await this.has(tree))) {
        throw new AntiphonError("ANT_BLOB_MISSING", `tree ${tree} is not in the cache`, { data: { tree } });
      }
      await this.#touch(tree);
      return await body({ objectsDir: join(this.#place(tree), "objects"), format: formatOf(tree) });
    } finally {
      const left = (this.#inUse.get(tree) ?? 1) - 1;
      if (left === 0) this.#inUse.delete(tree);
      else this.#inUse.set(tree, left);
    }
  }

  #place(tree: string): string {
    return join(this.dir, `${requireId(tree)}.git`);
  }

  #runner(tree: string): GitRunner {
    return (call) => git({ ...call, gitDir: this.#place(tree) });
  }

  /** The directory's mtime is the time of last use. If the tree was dropped just now, the next step notices. */
  async #touch(tree: string): Promise<void> {
    const now = new Date();
    await utimes(this.#place(tree), now, now).catch(() => undefined);
  }

  /** git/G5: bounds the cache and removes old temp directories. Another process may remove the same directory meanwhile. */
  async #sweep(): Promise<void> {
    const cached: { place: string; tree: string; usedMs: number; bytes: number }[] = [];
    const now = Date.now();
    for (const name of await readdir(this.dir)) {
      const place = join(this.dir, name);
      const found = await stat(place).catch(() => null);
      if (found === null) continue;
      if (name.startsWith(INCOMING)) {
        if (now - found.mtimeMs > STALE_MS) await rm(place, { recursive: true, force: true });
      } else if (name.endsWith(".git")) {
        cached.push({ place, tree: name.slice(0, -4), usedMs: found.mtimeMs, bytes: await packBytes(place) });
      }
    }
    cached.sort((a, b) => a.usedMs - b.usedMs);
    let bytes = cached.reduce((sum, entry) => sum + entry.bytes, 0);
    let trees = cached.length;
    for (const entry of cached) {
      if (trees <= this.#maxTrees && bytes <= this.#maxBytes) return;
      if (this.#inUse.has(entry.tree) || now - entry.usedMs < KEEP_MS) continue;
      await this.#remove(entry.place);
      this.#listings.delete(entry.tree);
      trees -= 1;
      bytes -= entry.bytes;
    }
  }
}

/** Packs never change, so two repositories may share one. */
async function sharePacks(from: string, to: string): Promise<void> {
  const packs = (place: string): string => join(place, "objects", "pack");
  await mkdir(packs(to), { recursive: true });
  for (const name of await readdir(packs(from))) await link(join(packs(from), name), join(packs(to), name));
}

async function packBytes(place: string): Promise<number> {
  const dir = join(place, "objects", "pack");
  const names = await readdir(dir).catch(() => []);
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(dir, name)).catch(() => null))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
