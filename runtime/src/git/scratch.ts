/**
 * A bare repository of our own in a temp directory, for one operation. Its config is ours; the objects it reads
 * come from the user's repository or the tree cache as an alternate; what it writes stays in it (L2).
 *
 * Lifecycle: made and removed by `withScratch`; a crash leaves a directory `antiphon-git-*` in the temp
 * directory that holds no secret and that nothing reads again.
 */
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AntiphonError } from "@antiphon/contracts";
import { isObjectId, type GitObject, type ObjectFormat } from "./git-object.ts";
import { git, runGit, type GitCall, type GitResult } from "./git-process.ts";
import { writePack } from "./pack.ts";

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
  const gitDir = await mkdtemp(join(tmpdir(), "antiphon-git-"));
  try {
    await layOutRepository(gitDir, store);
    await writeFile(join(gitDir, "objects", "info", "alternates"), alternateLine(store.objectsDir));
    if (store.shallowFile !== undefined) await copyFile(store.shallowFile, join(gitDir, "shallow"));
    return await body(new Scratch(gitDir, store));
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

/** Callers hand ids over as text; only a full id may reach an argv, never a revision expression or an option. */
export function requireId(id: string): string {
  if (!isObjectId(id))
    throw new AntiphonError("ANT_GIT_ARGUMENT", `not a full git object id: ${id.slice(0, 80)}`);
  return id;
}
