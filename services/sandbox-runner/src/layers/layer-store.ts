/**
 * The port to the layers of an engine: read-only trees of files that sandboxes are mounted over, so that nothing is
 * copied for an attempt. A sandbox over layers writes to a bounded top of its own, which is gone with it.
 *
 * A layer is a tar, named by the SHA-256 of its bytes:
 *   tree         the files of a base tree. They appear in /workspace.
 *   environment  two directories, both always there: `workspace/` with the ignored and untracked files that setup made
 *                (they appear in /workspace below the tree, which hides an equal path), and `home/` (it appears in HOME).
 *   owned        an environment that each sandbox owns.
 *
 * How it is used:
 *   if (provider.layers === undefined || (await provider.layers.fault()) !== null) stream the files into the sandbox
 *   await provider.layers.fill({ kind: "environment", digest }, () => openTar());  // returns at once when it is there
 *   await provider.start({ ...order, layers: { tree: treeDigest, environment: digest } });
 *
 * An environment has one copy, whose files belong to a group that every sandbox over it is in: whatever a sandbox does to
 * them but change their modes and times, it can do. A tree has a copy for each user that sandboxes over it have, since only
 * the owner of a file may change these, and a program may well do so to a source file. So has an owned environment. A store
 * makes copies as sandboxes start.
 *
 * Lifecycle of a layer: absent -> filling -> sealed -> absent. Only a sealed layer is ever mounted. Callers that want one
 * layer at the same time wait for one fill. A fill whose bytes do not have the digest, or that ends early, leaves nothing
 * that can be mounted; the reaper removes what a crash left. A layer that a sandbox is mounted over is never removed.
 */

/** HOME of a sandbox over layers. */
export const LAYERED_HOME = "/home/sandbox";

export type LayerKind = "tree" | "environment" | "owned";

export interface LayerName {
  readonly kind: LayerKind;
  /** SHA-256 of the tar, in lower-case hex. */
  readonly digest: string;
}

/** The layers of one sandbox, as digests. The tree hides the environment where both have a path. */
export interface Layers {
  readonly tree: string | null;
  readonly environment: string | null;
  /** The environment is an owned one. */
  readonly owned?: boolean;
}

export interface LayerFacts extends LayerName {
  /** Length of the tar. */
  readonly bytes: number;
  readonly createdMs: number;
}

export interface LayerStore {
  /** Why no sandbox can be mounted over layers here, or null when one can. It is tried once, with a small layer. */
  fault(): Promise<string | null>;
  /** True for a layer that has a whole copy. */
  has(name: LayerName): Promise<boolean>;
  /**
   * Makes a copy of the layer unless there is one, or there was one when it was last asked for. `tar` is read from its start, up
   * to twice for each copy, also later when a sandbox needs another one. Rejects with ANT_LAYER_INVALID when its bytes do not have
   * the digest or break a bound, and with the engine's error when it cannot be stored. `onWait` is called when there is none yet.
   */
  fill(name: LayerName, tar: () => AsyncIterable<Buffer>, onWait?: () => void): Promise<void>;
  /** Every copy. */
  list(): Promise<readonly LayerFacts[]>;
  /** "in-use" when a sandbox is mounted over it: it stays. An absent layer is no error. */
  remove(name: LayerName): Promise<"removed" | "in-use">;
}
