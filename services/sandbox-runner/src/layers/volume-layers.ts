/**
 * Layers in volumes of a Docker engine. layer-volumes.ts says how a layer is laid out and which volumes go, layer-fills.ts makes
 * them.
 *
 * A sandbox can change the mode or the times of a file only as its owner, and every sandbox has a user of its own. So a tree's
 * layer is unpacked once for each user that needs it: a sandbox takes a user that has a copy, if one is free. An environment is
 * unpacked once. Its files belong to no sandbox; their group, which every sandbox over it is in, may do what their owner may.
 *
 * A container that is mounted over a layer refers to its volumes, so the engine refuses to remove them. Between the look
 * for a seal and such a container another runner may remove the layer; `stillSealed` is therefore asked again once the
 * container exists. A seal is removed before its files, and a container is created before that second look, so one of the
 * two sees the other.
 */
import { createHash } from "node:crypto";
import { AntiphonError, limits } from "@antiphon/contracts";
import { ownerState } from "@antiphon/runtime";
import type { Engine } from "../providers/docker/docker-engine.ts";
import type { LowerVolume, WorkspaceSource } from "../ports.ts";
import { isPlainPath } from "../providers/workspace-mounts.ts";
import { isNoSpace } from "../workspace/no-space.ts";
import { LayerFills, type LayerFillsOptions, type TarSource } from "./layer-fills.ts";
import type { LayerFacts, LayerName, LayerStore, Layers } from "./layer-store.ts";
import { failed } from "./layer-unpacking.ts";
import {
  abandoned,
  hollow,
  keyOf,
  prefixOf,
  sealsIn,
  surplus,
  whomFor,
  type SealedLayer,
} from "./layer-volumes.ts";
import { copiesOf, sealedCopy, missing } from "./sealed-copies.ts";

export interface VolumeLayersOptions extends Omit<LayerFillsOptions, "sealed"> {
  /** Starts a sandbox over layers, to see whether that works; rejects when it does not. */
  readonly trial: (layers: Layers) => Promise<void>;
  readonly now: () => number;
}

/** The mounted parts of `Layers`, with the seals they were found by. */
export interface Lowers extends Pick<Extract<WorkspaceSource, { kind: "layers" }>, "tree" | "environment"> {
  readonly found: readonly SealedLayer[];
}

export class VolumeLayers implements LayerStore {
  readonly #options: VolumeLayersOptions;
  readonly #fills: LayerFills;
  /** Layers that were seen whole. Where another runner has removed one since, the next sandbox over it gets a new copy. */
  readonly #seen = new Set<string>();
  /** When each layer was last mounted from here. */
  readonly #usedMs = new Map<string, number>();
  #fault: Promise<string | null> | null = null;

  constructor(options: VolumeLayersOptions) {
    this.#options = options;
    const sealed = (volume: string): void => void this.#usedMs.set(volume, options.now());
    this.#fills = new LayerFills({ ...options, sealed });
  }

  fault(): Promise<string | null> {
    this.#fault ??= this.#tried().catch((error: unknown) => {
      this.#fault = null; // an engine that was away or full is asked again
      if (isNoSpace(error)) throw error;
      return AntiphonError.from(error).detail;
    });
    return this.#fault;
  }

  async has(name: LayerName): Promise<boolean> {
    return (await copiesOf(this.#options, name)).length > 0;
  }

  async fill(name: LayerName, tar: TarSource, onWait?: () => void): Promise<void> {
    const key = keyOf(name);
    this.#fills.remember(name, tar);
    if (this.#seen.has(key)) return;
    if (onWait !== undefined && !(await this.has(name))) onWait();
    await this.#fills.first(name, tar);
    this.#seen.add(key);
  }

  async list(): Promise<readonly LayerFacts[]> {
    return sealsIn(await this.#volumes());
  }

  /** Removes every copy that no sandbox is mounted over. */
  async remove(name: LayerName): Promise<"removed" | "in-use"> {
    const ends: ("removed" | "in-use")[] = [];
    for (const copy of await copiesOf(this.#options, name)) ends.push(await this.#remove(copy));
    return ends.includes("in-use") ? "in-use" : "removed";
  }

  /** How many of these layers each user has a copy of. */
  async copies(layers: Layers): Promise<ReadonlyMap<number, number>> {
    const found = await Promise.all(namesOf(layers).map((name) => copiesOf(this.#options, name)));
    const counts = new Map<number, number>();
    for (const { for: whom } of found.flat())
      if (whom !== "all") counts.set(whom, (counts.get(whom) ?? 0) + 1);
    return counts;
  }

  /** The volumes to mount for these layers. A layer that the user has no copy of is unpacked. Rejects when one is missing. */
  async lowers(layers: Layers, uid: number): Promise<Lowers> {
    const { tree } = layers;
    const { engine, now } = this.#options;
    const found: SealedLayer[] = [];
    for (const name of namesOf(layers))
      found.push(
        (await sealedCopy(this.#options, name, whomFor(name, uid))) ?? (await this.#copied(name, uid)),
      );
    for (const layer of found) this.#usedMs.set(layer.seal.name, now());
    const parts = await Promise.all(
      found.flatMap((layer) =>
        layer.volumes.map(async (name): Promise<LowerVolume> => {
          const volume = await engine.volume(name);
          if (volume === null) return missing(layer);
          if (isPlainPath(volume.path)) return { name, path: volume.path };
          throw failed(`the engine keeps volumes at ${JSON.stringify(volume.path)}, which cannot be mounted`);
        }),
      ),
    );
    const files = tree === null ? null : (parts.shift() ?? null);
    const [workspace, home] = parts;
    const made = workspace === undefined || home === undefined ? null : { workspace, home };
    return { tree: files, environment: made, found };
  }

  /** Rejects when one of the layers was removed, or made anew, since `lowers` found it. */
  async stillSealed({ found }: Lowers): Promise<void> {
    for (const layer of found) {
      const now = await sealedCopy(this.#options, layer, layer.for);
      if (now?.volumes.join() !== layer.volumes.join()) missing(layer);
    }
  }

  /** Removes what is unused and what nobody can name. Returns the names of the volumes that are gone. */
  async tidy(): Promise<readonly string[]> {
    const { engine, owner, now } = this.#options;
    const found = await this.#volumes();
    const removed: string[] = [];
    for (const layer of hollow(found)) {
      this.#seen.delete(keyOf(layer));
      await engine.removeVolume(layer.seal.name);
      removed.push(layer.seal.name);
    }
    const bounds = { maxBytes: limits.layerStoreBytes, maxIdleMs: limits.layerIdleMs };
    for (const layer of surplus(sealsIn(found), (one) => this.#lastUsed(one), bounds, now())) {
      if ((await this.#remove(layer)) === "removed") removed.push(layer.seal.name);
    }
    const facts = {
      nowMs: now(),
      filling: this.#fills.writing,
      self: owner,
      ownerState,
      mostMs: 2 * limits.layerFillMs,
    };
    for (const { name } of abandoned(found, facts)) {
      if ((await engine.removeVolume(name)) === "removed") removed.push(name);
    }
    return removed;
  }

  #volumes(): ReturnType<Engine["volumes"]> {
    return this.#options.engine.volumes(prefixOf(this.#options.instance));
  }

  async #copied(name: LayerName, uid: number): Promise<SealedLayer> {
    await this.#fills.copy(name, uid);
    return (await sealedCopy(this.#options, name, whomFor(name, uid))) ?? missing(name);
  }

  /** A layer that was never mounted from here counts as used when it was first seen. */
  #lastUsed(layer: SealedLayer): number {
    const key = layer.seal.name;
    const known = this.#usedMs.get(key) ?? this.#options.now();
    this.#usedMs.set(key, known);
    return known;
  }

  /** The seal goes first: from then on nobody finds the layer. */
  async #remove(layer: SealedLayer): Promise<"removed" | "in-use"> {
    const { engine } = this.#options;
    const { seal, volumes } = layer;
    this.#seen.delete(keyOf(layer));
    await engine.removeVolume(seal.name);
    for (const [at, volume] of volumes.entries()) {
      if ((await engine.removeVolume(volume)) === "removed") continue;
      if (at === 0) await engine.createVolume(seal.name, seal.labels); // nothing was removed yet
      return "in-use";
    }
    return "removed";
  }

  async #tried(): Promise<string | null> {
    const probe = { kind: "tree", digest: PROBE_DIGEST } as const;
    await this.fill(probe, () => once(PROBE_TAR));
    await this.#options.trial({ tree: probe.digest, environment: null });
    return null;
  }
}

function namesOf({ tree, environment, owned }: Layers): readonly LayerName[] {
  const kind = owned === true ? "owned" : "environment";
  return [
    ...(tree === null ? [] : [{ kind: "tree" as const, digest: tree }]),
    ...(environment === null ? [] : [{ kind, digest: environment } as const]),
  ];
}

/** An archive without a file. */
const PROBE_TAR = Buffer.alloc(1024);
const PROBE_DIGEST = createHash("sha256").update(PROBE_TAR).digest("hex");

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}
