/**
 * A temporary bare repository for one operation. Its config is ours; it reads objects of the user's repository or the
 * tree cache through an alternate; everything it writes stays in it.
 *
 * Lifecycle: created and removed by `withScratch`. After a crash a directory `antiphon-git-*` stays in the temp directory.
 * `sweepScratch` removes such directories when a service starts, and skips those it may not remove (another user's), so
 * that they do not keep the service from starting.
 */
import { copyFile, lstat, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AntiphonError } from "@antiphon/contracts";
import { isObjectId, type GitObject, type ObjectFormat } from "../objects/git-object.ts";
import { onDisk } from "../disk/disk-fault.ts";
import { git, runGit, type GitCall, type GitResult } from "../process/git-process.ts";
import { gitStream, type GitStreamCall } from "../process/git-stream.ts";
import { writePack } from "../objects/pack.ts";

/** A place to read objects from. */
export interface ObjectStore {
  objectsDir: string;
  format: ObjectFormat;
  /** The `shallow` file of a shallow clone, so that history ends at the same commits. */
  shallowFile?: string;
}

/** Something that holds trees: a user's repository or the tree cache. */
export interface ObjectSource {
  /** Calls `body` with the store that holds `id`. The store stays in place until the call has finished. */
  use<T>(id: string, body: (store: ObjectStore) => Promise<T>): Promise<T>;
}

type ScratchCall = Omit<GitCall, "gitDir">;

/** A scratch and the cache can be rebuilt, so nothing is flushed to disk for them. */
const NO_FSYNC = [["core.fsync", "none"]] as const;

export class Scratch {
  readonly gitDir: string;
  readonly store: ObjectStore;

  constructor(gitDir: string, store: ObjectStore) {
    this.gitDir = gitDir;
    this.store = store;
  }

  get indexFile(): string {
    return join(this.gitDir, "index");
  }

  git(call: ScratchCall): Promise<Buffer> {
    return git(this.#complete(call));
  }

  run(call: ScratchCall): Promise<GitResult> {
    return runGit(this.#complete(call));
  }

  stream(call: Omit<GitStreamCall, "gitDir">): AsyncGenerator<Buffer> {
    return gitStream(this.#complete(call));
  }

  #complete<T extends Pick<GitCall, "settings">>(call: T): T & { gitDir: string } {
    return { ...call, gitDir: this.gitDir, settings: [...NO_FSYNC, ...(call.settings ?? [])] };
  }

  /** Adds objects to the scratch itself. One process. */
  async add(objects: readonly GitObject[]): Promise<void> {
    if (objects.length === 0) return;
    await this.git({
      args: ["index-pack", "--stdin"],
      stdin: writePack(this.store.format, objects, "stored"),
    });
  }
}

/** An alternates line, C-quoted so that no path can be read as two paths or as a comment. */
function alternateLine(path: string): string {
  const escaped = path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `"${escaped}"\n`;
}

/** Writes the files of an empty bare repository. Cheaper than `git init`, and without its templates. */
export async function layOutRepository(
  gitDir: string,
  store: Omit<ObjectStore, "objectsDir">,
): Promise<void> {
  await Promise.all([
    mkdir(join(gitDir, "objects", "info"), { recursive: true }),
    mkdir(join(gitDir, "refs"), { recursive: true }),
    mkdir(join(gitDir, "info"), { recursive: true }),
  ]);
  const extension = store.format === "sha256" ? "[extensions]\n\tobjectFormat = sha256\n" : "";
  const version = store.format === "sha256" ? 1 : 0;
  const config = `[core]\n\trepositoryformatversion = ${version}\n\tbare = true\n${extension}`;
  await Promise.all([
    writeFile(join(gitDir, "HEAD"), "ref: refs/heads/none\n"),
    writeFile(join(gitDir, "config"), config),
  ]);
}

export function withScratch<T>(store: ObjectStore, body: (scratch: Scratch) => Promise<T>): Promise<T> {
  return onDisk(() => inScratch(store, body)); // git/G2
}

async function inScratch<T>(store: ObjectStore, body: (scratch: Scratch) => Promise<T>): Promise<T> {
  const gitDir = await mkdtemp(join(tmpdir(), PREFIX));
  try {
    return await body(await laidOut(gitDir, store));
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

/** The same for a body that streams. */
export async function* streamScratch<T>(
  store: ObjectStore,
  body: (scratch: Scratch) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const gitDir = await onDisk(() => mkdtemp(join(tmpdir(), PREFIX)));
  try {
    yield* body(await onDisk(() => laidOut(gitDir, store)));
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

async function laidOut(gitDir: string, store: ObjectStore): Promise<Scratch> {
  await layOutRepository(gitDir, store);
  await writeFile(join(gitDir, "objects", "info", "alternates"), alternateLine(store.objectsDir));
  if (store.shallowFile !== undefined) await copyFile(store.shallowFile, join(gitDir, "shallow"));
  return new Scratch(gitDir, store);
}

const PREFIX = "antiphon-git-";
/** Longer than any operation takes. */
const STALE_MS = 60 * 60_000;

/** Removes the directories of crashed processes, skipping those it may not remove. @returns how many */
export async function sweepScratch(now: Date, dir = tmpdir()): Promise<number> {
  let swept = 0;
  for (const name of await readdir(dir)) {
    if (!name.startsWith(PREFIX)) continue;
    const place = join(dir, name);
    const found = await lstat(place).catch(() => null);
    if (found === null || !found.isDirectory() || now.getTime() - found.mtimeMs < STALE_MS) continue;
    const gone = await rm(place, { recursive: true, force: true }).then(
      () => true,
      () => false,
    );
    if (gone) swept += 1;
  }
  return swept;
}

/** Callers pass ids as text. Only a full id may reach an argv, never a revision expression or an option. */
export function requireId(id: string): string {
  if (!isObjectId(id))
    throw new AntiphonError("ANT_GIT_ARGUMENT", `not a full git object id: ${id.slice(0, 80)}`);
  return id;
}
