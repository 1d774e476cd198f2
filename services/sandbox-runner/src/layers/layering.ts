/**
 * Decides which workspaces are mounted over layers, and sees to it that the layers are there.
 *
 * An environment is always mounted where the provider can do it. A tree alone is mounted only when it is large: up to
 * limits.layeredTreeFiles and layeredTreeBytes, streaming it into a sandbox takes less time than unpacking a layer for it.
 * Where nothing can be mounted, everything is streamed, and the reason is logged.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import type { Tree } from "../workspace/tree-archive.ts";
import type { Layers, LayerStore } from "./layer-store.ts";

/** A prepared environment as a tar, with its digest in lower-case hex. */
export interface EnvironmentFacts {
  readonly digest: string;
  /** Each sandbox owns its files. */
  readonly owned?: boolean;
  tar(): AsyncIterable<Buffer>;
}

type TreeFacts = Pick<Tree, "baseline" | "contentBytes" | "digest" | "tar">;

export interface LayeringOptions {
  /** Absent where the provider has no layers. */
  readonly store: LayerStore | undefined;
  /** Called with the reason why files are streamed although a layer was wanted, once for each new reason. */
  readonly onStreamed: (reason: string) => void;
}

export class Layering {
  readonly #options: LayeringOptions;
  #told: string | null = null;

  constructor(options: LayeringOptions) {
    this.#options = options;
  }

  /** The layers to mount for a workspace, made if necessary; null when its files have to be streamed. */
  async layersOf(tree: TreeFacts | null, environment: EnvironmentFacts | null): Promise<Layers | null> {
    const { store } = this.#options;
    if (store === undefined || !isWorthMounting(tree, environment)) return null;
    const fault = await store.fault();
    if (fault !== null) return this.#streamed(fault);
    try {
      if (tree !== null) await store.fill({ kind: "tree", digest: tree.digest }, () => tree.tar());
      const digests = { tree: tree?.digest ?? null, environment: environment?.digest ?? null };
      if (environment === null) return digests;
      const { digest, owned = false } = environment;
      await store.fill({ kind: owned ? "owned" : "environment", digest }, () => environment.tar());
      return owned ? { ...digests, owned } : digests;
    } catch (error) {
      const { code, detail } = AntiphonError.from(error);
      if (code === "ANT_LAYER_INVALID") throw error; // streamed, it would be as wrong
      return this.#streamed(detail);
    }
  }

  #streamed(reason: string): null {
    if (reason !== this.#told) this.#options.onStreamed(reason);
    this.#told = reason;
    return null;
  }
}

export function isWorthMounting(
  tree: Pick<TreeFacts, "baseline" | "contentBytes"> | null,
  environment: EnvironmentFacts | null,
): boolean {
  if (environment !== null) return true;
  if (tree === null) return false;
  return tree.baseline.size > limits.layeredTreeFiles || tree.contentBytes > limits.layeredTreeBytes;
}
