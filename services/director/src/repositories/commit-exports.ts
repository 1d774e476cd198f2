/**
 * Reads commits of the served repositories: their files by name, and their trees and histories as archives in the object store.
 * A commit never changes, so each is listed and exported once, unless its archive was removed from the store.
 */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import {
  AntiphonError,
  keys,
  limits,
  type HistoryRef,
  type RepoBase,
  type RepoRef,
  type TreeRef,
} from "@antiphon/contracts";
import {
  commitFiles,
  exportHistory,
  exportLinked,
  exportStep,
  exportTree,
  GITLINK_MODE,
  hasAttributes,
  stepName,
  stepNamed,
  type CommitFiles,
  type Repo,
  type TreeEntry,
} from "@antiphon/git";
import type { Blobs } from "@antiphon/runtime";
import { objectsBehind } from "./named-objects.ts";
import { Remembered, UnderWay } from "./remembered.ts";
import type { ServedRepositories } from "./served-repositories.ts";

/** Commits whose archives are remembered. */
const REMEMBERED = 256;
/** A smaller tree is as soon stored as a whole. */
const STEP_FROM_BYTES = 8 * 1024 * 1024;
/** Listings that are kept; one of 100,000 files takes some 25 MB. */
const LISTINGS = 4;

/** Makes room in the store for an archive while it is stored. */
export type Within = <T>(bytes: number, store: () => Promise<T>) => Promise<T>;

export interface Storing {
  /** Keeps the store within its bound. Default: it has none. */
  readonly within: Within;
  /** Whether bases may be steps: every Associate and sandbox-runner can read them. Default: false. */
  readonly steps: boolean;
}

/** A whole tree in the store, from which later commits are steps. */
interface WholeTree {
  readonly commit: string;
  readonly ref: TreeRef;
}

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
  readonly #storing: Storing;
  readonly #bases = new Remembered<ExportedBase>(REMEMBERED);
  readonly #histories = new Remembered<HistoryRef | null>(REMEMBERED);
  /** The latest of each repository. */
  readonly #wholes = new LRUCache<string, WholeTree>({ max: REMEMBERED });
  readonly #listings = new Remembered<CommitFiles>(LISTINGS);
  readonly #named = new UnderWay<readonly string[]>();
  /** By the object's name. */
  readonly #stored = new UnderWay<void>();

  constructor(served: ServedRepositories, store: Blobs, storing: Storing) {
    this.#served = served;
    this.#store = store;
    this.#storing = storing;
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
      (await this.#areThere(objectsBehind(object))) &&
      (linked === undefined || (await this.#store.want(linked)));
    return this.#bases.holding(commit, () => this.#export(repo, commit), isThere);
  }

  async #areThere(objects: readonly string[]): Promise<boolean> {
    for (const object of objects) if (!(await this.#store.want(object))) return false;
    return true;
  }

  async #export(repo: RepoRef, commit: string): Promise<ExportedBase> {
    const opened = await this.#served.open(repo, [commit]);
    const { entries } = await this.filesOf(opened, commit);
    const ref = (await this.#step(opened, commit, entries)) ?? (await this.#whole(opened, commit, entries));
    const mayLink = entries.some(({ mode }) => mode === GITLINK_MODE) || hasAttributes(entries);
    const linked = mayLink ? await exportLinked(opened, commit, this.#served.places(repo)) : null;
    if (linked === null || linked.tar === null) return { ref, sizes: new Map() };
    const name = `linked-${ref.tree}-${shortDigest(linked.tar)}.tar`;
    await this.#put(name, linked.tar, linked.tar.length);
    return { ref: { ...ref, linked: name }, sizes: linked.sizes };
  }

  async #whole(opened: Repo, commit: string, entries: readonly TreeEntry[]): Promise<TreeRef> {
    const { tree, tar, bytes, files } = await exportTree(opened, commit, {
      listing: Promise.resolve(entries),
    });
    const object = keys.tree(tree);
    await this.#put(object, tar, bytes);
    const ref = { commit, tree, object, bytes, files };
    if (bytes >= STEP_FROM_BYTES) this.#wholes.set(opened.gitDir, { commit, ref });
    return ref;
  }

  /** Null: steps are off, or no whole tree of the repository is in the store from which it is a small step. */
  async #step(opened: Repo, commit: string, entries: readonly TreeEntry[]): Promise<TreeRef | null> {
    if (!this.#storing.steps) return null;
    const whole = this.#wholes.get(opened.gitDir);
    if (whole === undefined || !(await this.#store.want(whole.ref.object))) return null;
    const { tree: from, bytes } = whole.ref;
    const before = (await this.filesOf(opened, whole.commit)).entries;
    const made = await exportStep(opened, { tree: from, entries: before }, entries);
    if (made === null) return null;
    const { tree, files, step } = made;
    if (tree === from) return { ...whole.ref, commit };
    const object = stepName(tree, from);
    await this.#put(object, step, step.length);
    return { commit, tree, object, bytes, files };
  }

  /**
   * Stores an object again that an earlier dispatch names, also if `exportBase` would make another one now. Returns what it
   * stored. Callers who ask again before it is stored wait for the same export.
   */
  exportNamed(repo: RepoRef, commit: string, object: string): Promise<readonly string[]> {
    return this.#named.during(JSON.stringify([repo.path, commit, object]), () =>
      this.#again(repo, commit, object),
    );
  }

  async #again(repo: RepoRef, commit: string, object: string): Promise<readonly string[]> {
    const named = stepNamed(object);
    if (named === null) {
      const { ref } = await this.#base(repo, commit);
      if (ref.object === object) return [object];
    }
    const opened = await this.#served.open(repo, [commit]);
    const { entries } = await this.filesOf(opened, commit);
    if (named === null) return [(await this.#whole(opened, commit, entries)).object];
    const before = await this.#startOf(opened, object, named.from);
    const whole = await this.#whole(opened, named.from, before);
    const made = await exportStep(opened, { tree: named.from, entries: before }, entries);
    if (made === null || stepName(made.tree, named.from) !== object) return [whole.object];
    await this.#put(object, made.step, made.step.length);
    return [whole.object, object];
  }

  /** The tree that a step starts from may have left the repository with the branch that it was on. */
  async #startOf(opened: Repo, object: string, from: string): Promise<readonly TreeEntry[]> {
    try {
      return (await this.filesOf(opened, from)).entries;
    } catch (cause) {
      if (AntiphonError.from(cause).code !== "ANT_REPO_INCOMPLETE") throw cause;
      const detail = `${object} cannot be made again: the repository does not hold tree ${from}`;
      throw new AntiphonError("ANT_BLOB_MISSING", detail, { cause });
    }
  }

  #put(object: string, tar: Buffer | (() => AsyncIterable<Buffer>), bytes: number): Promise<void> {
    return this.#stored.during(object, async () => {
      if (await this.#store.want(object)) return;
      await this.#storing.within(bytes, () =>
        Buffer.isBuffer(tar)
          ? this.#store.put(object, tar)
          : this.#store.putStream(object, tar, { deadlineMs: limits.treeTransferMs }),
      );
    });
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
