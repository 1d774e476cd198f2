/**
 * Reads commits of the served repositories: their files by name, and their trees and histories as archives in the object store.
 * A commit never changes, so each is listed and exported once, unless its archive was removed from the store.
 */
import { createHash } from "node:crypto";
import { limits, type HistoryRef, type RepoBase, type RepoRef, type TreeRef } from "@antiphon/contracts";
import {
  commitFiles,
  exportHistory,
  exportLinked,
  exportTree,
  hasAttributes,
  type CommitFiles,
  type Repo,
} from "@antiphon/git";
import type { Blobs } from "@antiphon/runtime";
import { Remembered } from "./remembered.ts";
import type { ServedRepositories } from "./served-repositories.ts";

/** Commits whose archives are remembered. */
const REMEMBERED = 256;
/** Listings that are kept; one of 100,000 files takes some 25 MB. */
const LISTINGS = 4;

/** Makes room in the store for an archive while it is stored. */
export type Within = <T>(bytes: number, store: () => Promise<T>) => Promise<T>;

interface ExportedBase {
  ref: TreeRef;
  /** Bytes of the files in Git LFS, as they are laid out. */
  sizes: ReadonlyMap<string, number>;
}

/** Distinguishes the archives that one commit can have. */
const shortDigest = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex").slice(0, 16);

export class CommitExports {
  readonly #served: ServedRepositories;
  readonly #store: Blobs;
  readonly #within: Within;
  readonly #bases = new Remembered<ExportedBase>(REMEMBERED);
  readonly #histories = new Remembered<HistoryRef | null>(REMEMBERED);
  readonly #listings = new Remembered<CommitFiles>(LISTINGS);

  constructor(served: ServedRepositories, store: Blobs, within: Within) {
    this.#served = served;
    this.#store = store;
    this.#within = within;
  }

  async listing(repo: RepoRef, commit: string): Promise<CommitFiles> {
    return this.filesOf(await this.#served.open(repo, [commit]), commit);
  }

  /** One run asks for the same listing at its intent, its dispatch and its verdict. */
  filesOf(repo: Repo, commit: string): Promise<CommitFiles> {
    return this.#listings.get(JSON.stringify([repo.gitDir, commit]), () => commitFiles(repo, commit));
  }

  async exportBase(repo: RepoRef, commit: string): Promise<TreeRef> {
    return (await this.#base(repo, commit)).ref;
  }

  #base(repo: RepoRef, commit: string): Promise<ExportedBase> {
    const isThere = async ({ ref: { object, linked } }: ExportedBase): Promise<boolean> =>
      (await this.#store.want(object)) && (linked === undefined || (await this.#store.want(linked)));
    return this.#bases.holding(commit, () => this.#export(repo, commit), isThere);
  }

  async #export(repo: RepoRef, commit: string): Promise<ExportedBase> {
    const opened = await this.#served.open(repo, [commit]);
    const listing = this.filesOf(opened, commit).then(({ entries }) => entries);
    const exported = await exportTree(opened, commit, { listing });
    const { tree, tar, bytes, files, gitlinks, hasAttributes } = exported;
    const object = `tree-${tree}.tar`;
    await this.#put(object, tar, bytes);
    const ref = { commit, tree, object, bytes, files };
    const mayLink = gitlinks.length > 0 || hasAttributes;
    const linked = mayLink ? await exportLinked(opened, commit, this.#served.places(repo)) : null;
    if (linked === null || linked.tar === null) return { ref, sizes: new Map() };
    const name = `linked-${tree}-${shortDigest(linked.tar)}.tar`;
    await this.#put(name, linked.tar, linked.tar.length);
    return { ref: { ...ref, linked: name }, sizes: linked.sizes };
  }

  async #put(object: string, tar: Buffer | (() => AsyncIterable<Buffer>), bytes: number): Promise<void> {
    if (await this.#store.want(object)) return;
    await this.#within(bytes, () =>
      Buffer.isBuffer(tar)
        ? this.#store.put(object, tar)
        : this.#store.putStream(object, tar, { deadlineMs: limits.treeTransferMs }),
    );
  }

  exportHistory(base: RepoBase, commit: string, commits: number): Promise<HistoryRef | null> {
    const branch = base.ref.startsWith("refs/heads/") ? base.ref : null;
    const key = JSON.stringify([base.repo.path, commit, commits, branch]);
    const isThere = async (ref: HistoryRef | null): Promise<boolean> =>
      ref === null || this.#store.want(ref.object);
    const make = async (): Promise<HistoryRef | null> => {
      const opened = await this.#served.open(base.repo, [commit]);
      // Without attributes nothing is in Git LFS, and the tree need not be stored first.
      const sizes = async (): Promise<ExportedBase["sizes"]> =>
        hasAttributes((await this.filesOf(opened, commit)).entries)
          ? (await this.#base(base.repo, commit)).sizes
          : new Map();
      const history = await exportHistory(opened, commit, { commits, branch, sizes });
      if (history === null) return null;
      const object = `history-${commit}-${shortDigest(history.tar)}.tar`;
      await this.#put(object, history.tar, history.tar.length);
      return { object, commits: history.commits, cut: history.cut, bytes: history.tar.length };
    };
    return this.#histories.holding(key, make, isThere);
  }
}
