/**
 * A bare repository of our own in a temp directory, for one operation. Its config is ours; the objects it reads
 * come from the user's repository or the tree cache as an alternate; what it writes stays in it (L2).
 *
 * Lifecycle: made and removed by `withScratch`. A crash leaves a directory `antiphon-git-*` in the temp directory
 * that nothing reads again; `sweepScratch` removes it, and every service calls that when it starts.
 *
 * Invariants:
 *   C10 A left-over that cannot be removed (another user's) is passed over: it keeps no service from starting.
 */
import { copyFile, lstat, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AntiphonError } from "@antiphon/contracts";
import { isObjectId, type GitObject, type ObjectFormat } from "../objects/git-object.ts";
import { git, runGit, type GitCall, type GitResult } from "../process/git-process.ts";
import { writePack } from "../objects/pack.ts";

/** Where objects can be read. */
export interface ObjectStore {
  objectsDir: string;
  format: ObjectFormat;
  /** The `shallow` file of a shallow clone, so that history ends where it does there. */
  shallowFile?: string;
}

/** Something that holds trees: a user's repository, or the tree cache. */
export interface ObjectSource {
  /** Calls back with the store that holds `id`, which stays there until the callback is done. */
  use<T>(id: string, body: (store: ObjectStore) => Promise<T>): Promise<T>;
}

type ScratchCall = Omit<GitCall, "gitDir">;

/** Nothing in a scratch or in the cache is a promise to anyone, so nothing is flushed to disk for it. */
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

  #complete(call: ScratchCall): GitCall {
    return { ...call, gitDir: this.gitDir, settings: [...NO_FSYNC, ...(call.settings ?? [])] };
  }

  /** Puts objects into the scratch itself: one process. */
  async add(objects: readonly GitObject[]): Promise<void> {
    if (objects.length === 0) return;
    await this.git({
      args: ["index-pack", "--stdin"],
      stdin: writePack(this.store.format, objects, "stored"),
    });
  }
}

/** An alternates line: C-quoted, so that no path can be read as two or as a comment. */
function alternateLine(path: string): string {
  const escaped = path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
  return `"${escaped}"\n`;
}

/** The files of an empty bare repository: cheaper than a `git init`, and without its templates. */
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

export async function withScratch<T>(store: ObjectStore, body: (scratch: Scratch) => Promise<T>): Promise<T> {
  const gitDir = await mkdtemp(join(tmpdir(), PREFIX));
  try {
    await layOutRepository(gitDir, store);
    await writeFile(join(gitDir, "objects", "info", "alternates"), alternateLine(store.objectsDir));
    if (store.shallowFile !== undefined) await copyFile(store.shallowFile, join(gitDir, "shallow"));
    return await body(new Scratch(gitDir, store));
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

const PREFIX = "antiphon-git-";
/** No operation lasts this long. */
const STALE_MS = 60 * 60_000;

/** Removes what crashed processes left, as far as it may (C10). @returns how many */
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

/** Callers hand ids over as text; only a full id may reach an argv, never a revision expression or an option. */
export function requireId(id: string): string {
  if (!isObjectId(id))
    throw new AntiphonError("ANT_GIT_ARGUMENT", `not a full git object id: ${id.slice(0, 80)}`);
  return id;
}
