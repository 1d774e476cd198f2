/**
 * Prepares warm sandboxes before any job asks for them: with the most recently requested base tree, since the tasks and verdicts
 * of a run share theirs, and one of those over layers with the most recently requested repository, since most runs begin on the
 * commit that the one before began on. Only Antiphon's own export of the repository is ever put in.
 */
import { limits } from "@antiphon/contracts";
import { nameHome } from "../environments/laying.ts";
import type { Layers } from "../layers/layer-store.ts";
import type { Sandbox, SandboxOrder } from "../ports.ts";
import type { Tree, TreeArchive } from "../workspace/tree-archive.ts";
import { NOTHING, type Held } from "./pool.ts";

export interface WantedWorkspace {
  readonly tree: string | null;
  readonly repository: string | null;
  /** The layers below a workspace with this tree, or null when the tree is streamed. */
  readonly layers: Layers | null;
}

export class Preloader {
  readonly #trees: TreeArchive;
  #latest: string | null = null;
  #layers: Layers | null = null;
  #repository: string | null = null;

  constructor(trees: TreeArchive) {
    this.#trees = trees;
  }

  /** A job of the same tree that wants no repository says nothing about the next one. */
  wanted({ tree, repository, layers }: WantedWorkspace): void {
    if (tree === null && layers === null) return;
    if (repository !== null || tree !== this.#latest) this.#repository = repository;
    this.#latest = tree;
    this.#layers = layers;
  }

  /** The layers that the next warm sandbox is mounted over, if any. */
  get layers(): Layers | null {
    return this.#layers;
  }

  /** A sandbox over these layers could not be started. The next job that asks for them gets the error. */
  forgetLayers(): void {
    this.#layers = null;
  }

  /** `others`: the repositories that other warm sandboxes hold. */
  async preload(sandbox: Sandbox, order: SandboxOrder, others: ReadonlySet<string | null>): Promise<Held> {
    if (order.layers === undefined) return { ...NOTHING, tree: await this.#putTree(sandbox) };
    await sandbox.remember?.(new Map()); // It reads all files of the layers, and no job waits for it here.
    if (order.layers.environment !== null) await nameHome(sandbox);
    const name = this.#repository;
    return { ...NOTHING, repository: others.has(name) ? null : await this.#putRepository(sandbox) };
  }

  /**
   * Returns the tree that is now in the sandbox, or null when the sandbox stays empty. A tree that cannot be fetched or
   * put in is not tried again; the next job that asks for it gets the error.
   */
  async #putTree(sandbox: Sandbox): Promise<Tree | null> {
    const name = this.#latest;
    if (name === null) return null;
    try {
      const tree = await this.#trees.open(name);
      if (tree.contentBytes > limits.sandboxWarmTreeBytes) return null;
      await sandbox.putTar(tree.tar());
      await sandbox.remember?.(tree.baseline);
      return tree;
    } catch (error) {
      if (this.#latest === name) this.#latest = null;
      throw error;
    }
  }

  /** The same for a repository. */
  async #putRepository(sandbox: Sandbox): Promise<string | null> {
    const name = this.#repository;
    if (name === null) return null;
    try {
      const repository = await this.#trees.open(name);
      if (repository.contentBytes > limits.sandboxWarmTreeBytes) return null;
      await sandbox.putTar(repository.tar());
      return name;
    } catch (error) {
      if (this.#repository === name) this.#repository = null;
      throw error;
    }
  }
}
