/**
 * Prepares warm sandboxes before any job asks for them: with the most recently requested base tree, since the tasks and verdicts
 * of a run share theirs, and one of those over layers with the most recently requested repository, since most runs begin on the
 * commit that the one before began on. Only Antiphon's own export of the repository is ever put in. It remembers the two kinds of
 * layers that were asked for last.
 */
import { isDeepStrictEqual } from "node:util";
import { limits } from "@antiphon/contracts";
import { nameHome } from "../environments/laying.ts";
import type { Layers } from "../layers/layer-store.ts";
import type { Sandbox, SandboxOrder } from "../ports.ts";
import type { Tree, TreeArchive } from "../workspace/tree-archive.ts";
import { NOTHING, type Held } from "./lease.ts";

export interface WantedWorkspace {
  readonly tree: string | null;
  readonly repository: string | null;
  /** The layers below a workspace with this tree, or null when the tree is streamed. */
  readonly layers: Layers | null;
}

/** What the latest job over some layers, or over none, asked for. */
interface Kind {
  readonly layers: Layers | null;
  tree: string | null;
  repository: string | null;
  readonly askedMs: number;
}

/** The attempt of a run and its clean room are two kinds when the agent is installed in a layer. */
const KINDS = 2;
/** A kind that nobody asked for in this time has no warm sandbox. */
const KIND_MS = 10 * 60_000;

export class Preloader {
  readonly #trees: TreeArchive;
  readonly #now: () => number;
  /** The latest is first. */
  #kinds: readonly Kind[] = [];

  constructor(trees: TreeArchive, now: () => number = () => performance.now()) {
    this.#trees = trees;
    this.#now = now;
  }

  /** A job of the same tree that wants no repository says nothing about the next one. */
  wanted({ tree, repository, layers }: WantedWorkspace): void {
    if (tree === null && layers === null) return;
    const before = this.#kindOf(layers);
    const keeps = repository === null && before?.tree === tree;
    const kind = { layers, tree, repository: keeps ? before.repository : repository, askedMs: this.#now() };
    this.#kinds = [kind, ...this.#kinds.filter((one) => one !== before)].slice(0, KINDS);
  }

  /** The layers that warm sandboxes are mounted over, null for those without any; the latest are first. */
  get layers(): readonly (Layers | null)[] {
    const oldest = this.#now() - KIND_MS;
    const recent = this.#kinds.filter((kind, i) => i === 0 || kind.askedMs >= oldest);
    return recent.length === 0 ? [null] : recent.map(({ layers }) => layers);
  }

  /** A sandbox over layers could not be started. The next job that asks for them gets the error. */
  forgetLayers(): void {
    this.#kinds = this.#kinds.filter(({ layers }) => layers === null);
  }

  /** `others`: the repositories that other warm sandboxes over the same layers hold. */
  async preload(sandbox: Sandbox, order: SandboxOrder, others: ReadonlySet<string | null>): Promise<Held> {
    const kind = this.#kindOf(order.layers ?? null);
    if (order.layers === undefined)
      return { ...NOTHING, tree: kind === undefined ? null : await this.#putTree(sandbox, kind) };
    await sandbox.remember?.(new Map()); // It reads all files of the layers, and no job waits for it here.
    if (order.layers.environment !== null) await nameHome(sandbox);
    if (kind === undefined || others.has(kind.repository)) return NOTHING;
    return { ...NOTHING, repository: await this.#putRepository(sandbox, kind) };
  }

  #kindOf(layers: Layers | null): Kind | undefined {
    return this.#kinds.find((one) => isDeepStrictEqual(one.layers, layers));
  }

  /**
   * Returns the tree that is now in the sandbox, or null when the sandbox stays empty. A tree that cannot be fetched or
   * put in is not tried again; the next job that asks for it gets the error.
   */
  async #putTree(sandbox: Sandbox, kind: Kind): Promise<Tree | null> {
    const name = kind.tree;
    if (name === null) return null;
    try {
      const tree = await this.#trees.open(name);
      if (tree.contentBytes > limits.sandboxWarmTreeBytes) return null;
      await sandbox.putTar(tree.tar());
      await sandbox.remember?.(tree.baseline);
      return tree;
    } catch (error) {
      kind.tree = null;
      throw error;
    }
  }

  /** The same for a repository. */
  async #putRepository(sandbox: Sandbox, kind: Kind): Promise<string | null> {
    const name = kind.repository;
    if (name === null) return null;
    try {
      const repository = await this.#trees.open(name);
      if (repository.contentBytes > limits.sandboxWarmTreeBytes) return null;
      await sandbox.putTar(repository.tar());
      return name;
    } catch (error) {
      kind.repository = null;
      throw error;
    }
  }
}
