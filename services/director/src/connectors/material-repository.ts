/**
 * The repository of what connectors answered: one commit for each run without a repository. No ref points into it, and
 * nothing lands on it.
 *
 * A commit is stored as a pack before its run is accepted, so any Director can open it, also one that was never asked. The
 * directory is a cache of these packs and may be deleted while no Director uses it.
 */
import { randomUUID } from "node:crypto";
import { access, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AntiphonError } from "@antiphon/contracts";
import { initBare, missingCommits, openRepo, unpackInto, type Repo, type RootCommit } from "@antiphon/git";
import type { Blobs } from "@antiphon/runtime";

export class MaterialRepository {
  readonly #directory: string;
  readonly #store: Pick<Blobs, "has" | "get" | "put">;

  constructor(directory: string, store: Pick<Blobs, "has" | "get" | "put">) {
    this.#directory = directory;
    this.#store = store;
  }

  async keep({ commit, pack }: RootCommit): Promise<void> {
    if (!(await this.#store.has(packName(commit)))) await this.#store.put(packName(commit), pack);
  }

  async open(commits: readonly string[]): Promise<Repo> {
    if (!(await isThere(join(this.#directory, "HEAD")))) await this.#make();
    const repo = await openRepo(this.#directory);
    for (const commit of await missingCommits(repo, commits)) {
      const name = packName(commit);
      if (!(await this.#store.has(name)))
        throw new AntiphonError("ANT_BLOB_MISSING", `what the connectors answered is gone: ${name}`);
      await unpackInto(repo, await this.#store.get(name));
    }
    return repo;
  }

  /** Complete or not at all: another process may make it at the same time. */
  async #make(): Promise<void> {
    await mkdir(dirname(this.#directory), { recursive: true });
    const made = `${this.#directory}.${randomUUID()}`;
    try {
      await initBare(made, "sha1");
      await rename(made, this.#directory);
    } catch (error) {
      if (!(await isThere(join(this.#directory, "HEAD")))) throw error;
    } finally {
      await rm(made, { recursive: true, force: true });
    }
  }
}

const packName = (commit: string): string => `connectors-${commit}.pack`;

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
