/**
 * Puts a base tree into warm sandboxes before any job asks for them: the most recently requested one, since the tasks and
 * verdicts of a run share theirs. Only Antiphon's own export of the repository is ever put in.
 */
import { limits } from "@antiphon/contracts";
import type { Layers } from "../layers/layer-store.ts";
import type { Sandbox } from "../ports.ts";
import type { Tree, TreeArchive } from "../workspace/tree-archive.ts";

export class Preloader {
  readonly #trees: TreeArchive;
  #latest: string | null = null;
  #layers: Layers | null = null;

  constructor(trees: TreeArchive) {
    this.#trees = trees;
  }

  /** `layers`: what the workspace with this tree is mounted over, or null when the tree is streamed. */
  wanted(tree: string | null, layers: Layers | null): void {
    if (tree === null && layers === null) return;
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

  /**
   * Returns the tree that is now in the sandbox, or null when the sandbox stays empty. A tree that cannot be fetched or
   * put in is not tried again; the next job that asks for it gets the error.
   */
  async preload(sandbox: Sandbox): Promise<Tree | null> {
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
}
