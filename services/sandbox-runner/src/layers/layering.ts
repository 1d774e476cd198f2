/**
 * Decides which workspaces are mounted over layers, and sees to it that the layers are there.
 *
 * An environment is always mounted where the provider can do it. A tree alone is mounted only when it is large: up to
 * limits.layeredTreeFiles and layeredTreeBytes, streaming it into a sandbox takes less time than unpacking a layer for it.
 * Where nothing can be mounted, everything is streamed, and the reason is logged. A full disk of the engine is an error.
 *
 * A commit changes few files, so its tree is mounted over the layer of a recent one, and the files that differ are put into the
 * top. Unpacking a layer for each commit would cost as much as the whole repository.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import { STEP_FILES } from "@antiphon/git";
import type { Tree } from "../workspace/tree-archive.ts";
import { isNoSpace } from "../workspace/no-space.ts";
import { stepBetween } from "../workspace/tree-step.ts";
import type { Layers, LayerStore } from "./layer-store.ts";

/** A prepared environment as a tar, with its digest in lower-case hex. */
export interface EnvironmentFacts {
  readonly digest: string;
  /** Each sandbox owns its files. */
  readonly owned?: boolean;
  tar(): AsyncIterable<Buffer>;
  /** Call it when the kept copy does not have its digest. */
  drop(): Promise<void>;
}

type TreeFacts = Pick<Tree, "baseline" | "contentBytes" | "digest" | "tar" | "drop">;

export interface LayeringOptions {
  /** Absent where the provider has no layers. */
  readonly store: LayerStore | undefined;
  /** Called with the reason why files are streamed although a layer was wanted, once for each new reason. */
  readonly onStreamed: (reason: string) => void;
}

/** Tells people who wait what is made for a job. */
export type Tell = (text: string) => void;

export const LAYING = "laying out the environment";

/** Trees whose layers further ones are mounted over. */
const RECENT = 4;

export class Layering {
  readonly #options: LayeringOptions;
  /** The latest is last. */
  #recent: readonly Tree[] = [];
  #told: string | null = null;

  constructor(options: LayeringOptions) {
    this.#options = options;
  }

  /** The tree whose layer a workspace with this one is mounted over: itself, or a recent one that differs in few files. */
  under(tree: Tree): Tree {
    if (this.#options.store === undefined) return tree;
    const near =
      this.#recent.findLast((one) => one.digest === tree.digest || isNear(one, tree)) ?? tree.over ?? tree;
    this.#recent = [...this.#recent.filter((one) => one.digest !== near.digest), near].slice(-RECENT);
    return near;
  }

  /**
   * The layers to mount for a workspace, made if necessary; null when its files have to be streamed. `tell` hears what is made,
   * which takes a minute for an environment of a GiB.
   */
  async layersOf(
    tree: TreeFacts | null,
    environment: EnvironmentFacts | null,
    tell: Tell = () => undefined,
  ): Promise<Layers | null> {
    const { store } = this.#options;
    if (store === undefined || !isWorthMounting(tree, environment)) return null;
    const fault = await store.fault();
    if (fault !== null) return this.#streamed(fault);
    try {
      if (tree !== null) await filled(store, { kind: "tree", digest: tree.digest }, tree, tell);
      const digests = { tree: tree?.digest ?? null, environment: environment?.digest ?? null };
      if (environment === null) return digests;
      const { digest, owned = false } = environment;
      await filled(store, { kind: owned ? "owned" : "environment", digest }, environment, tell);
      return owned ? { ...digests, owned } : digests;
    } catch (error) {
      const { code, detail } = AntiphonError.from(error);
      if (code === "ANT_LAYER_INVALID") throw error; // streamed, it would be as wrong
      if (isNoSpace(error)) throw error; // the memory of each sandbox is no substitute for the engine's disk
      return this.#streamed(detail);
    }
  }

  #streamed(reason: string): null {
    if (reason !== this.#told) this.#options.onStreamed(reason);
    this.#told = reason;
    return null;
  }
}

/** A copy on this machine that is not what its name says goes, so that the next attempt fetches it. */
async function filled(
  store: LayerStore,
  name: Parameters<LayerStore["fill"]>[0],
  kept: Pick<TreeFacts, "tar" | "drop">,
  tell: Tell,
): Promise<void> {
  try {
    await store.fill(
      name,
      () => kept.tar(),
      () => tell(name.kind === "tree" ? "laying out the repository" : LAYING),
    );
  } catch (error) {
    if (AntiphonError.from(error).code === "ANT_LAYER_INVALID") await kept.drop();
    throw error;
  }
}

function isNear(from: Tree, to: Tree): boolean {
  const step = stepBetween(from, to);
  return step !== null && step.put.size + step.remove.length <= STEP_FILES;
}

export function isWorthMounting(
  tree: Pick<TreeFacts, "baseline" | "contentBytes"> | null,
  environment: EnvironmentFacts | null,
): boolean {
  if (environment !== null) return true;
  if (tree === null) return false;
  return tree.baseline.size > limits.layeredTreeFiles || tree.contentBytes > limits.layeredTreeBytes;
}
