/**
 * Which base tree warm sandboxes wait with: the one asked for last, since the tasks of a run share theirs, and its
 * verdicts too. Nothing but Antiphon's own export of the repository ever goes in before a job does (W5).
 */
import { limits } from "@antiphon/contracts";
import type { Sandbox } from "../ports.ts";
import type { Tree, TreeArchive } from "../workspace/tree-archive.ts";

export class Furnisher {
  readonly #trees: TreeArchive;
  #latest: string | null = null;

  constructor(trees: TreeArchive) {
    this.#trees = trees;
  }

  wanted(tree: string | null): void {
    if (tree !== null) this.#latest = tree;
  }

  /**
   * Answers the tree that is in the sandbox now, or null where it is left empty. A tree that cannot be had,
   * or put in, is not tried a second time: who asks for it next is told why.
   */
  async furnish(sandbox: Sandbox): Promise<Tree | null> {
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
