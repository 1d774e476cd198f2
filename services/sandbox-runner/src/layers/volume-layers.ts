/**
 * Layers in volumes of a Docker engine.
 *
 * This process never extracts anything and needs no path of the engine's host: a hardened container of our image, without
 * a network, unpacks the tar that is streamed to it (so it works with an engine elsewhere). layer-volumes.ts says how a
 * layer is laid out and which volumes go.
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
import type { Engine } from "../providers/docker/docker-engine.ts";
import type { LowerVolume, Sandbox, WorkspaceSource } from "../ports.ts";
import type { ChooseUid } from "../providers/docker/uid-leases.ts";
import type { UidPart } from "../providers/sandbox-uids.ts";
import { isPlainPath } from "../providers/workspace-mounts.ts";
import { ownerState } from "@antiphon/runtime";
import { isNoSpace } from "../workspace/no-space.ts";
import type { LayerFacts, LayerName, LayerStore, Layers } from "./layer-store.ts";
import { failed, unpack } from "./layer-unpacking.ts";
import {
  abandoned,
  copiesPrefix,
  hollow,
  keyOf,
  partLabels,
  partName,
  PARTS,
  prefixOf,
  sealedIn,
  sealLabels,
  sealName,
  sealsIn,
  surplus,
  type CopyFor,
  type SealedLayer,
} from "./layer-volumes.ts";

type TarSource = () => AsyncIterable<Buffer>;

export interface VolumeLayersOptions {
  readonly engine: Engine;
  readonly instance: string;
  /** See ownLabel of the runtime. */
  readonly owner: string;
  readonly newName: () => string;
  /** The most layers that are asked for at one time. Where each can be read is held in memory, with the index of its tree. */
  readonly mostSources: number;
  /** Does the work with a user of this part that no container has. */
  readonly withUid: <T>(part: UidPart, choose: ChooseUid, work: (uid: number) => Promise<T>) => Promise<T>;
  /** Starts a container of our own image and of this user, whose UNPACKED is this volume. `shared`: see WorkspaceSource. */
  readonly filler: (volume: string, uid: number, shared: boolean) => Promise<Sandbox>;
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
  readonly #coming = new Map<string, Promise<void>>();
  /** Where the last layers that were asked for can be read, for further copies. */
  readonly #sources = new Map<string, TarSource>();
  /** Layers that were seen whole. Where another runner has removed one since, the next sandbox over it gets a new copy. */
  readonly #seen = new Set<string>();
  /** Volumes that a fill of this process is writing. */
  readonly #filling = new Set<string>();
  /** When each layer was last mounted from here. */
  readonly #usedMs = new Map<string, number>();
  #fault: Promise<string | null> | null = null;

  constructor(options: VolumeLayersOptions) {
    this.#options = options;
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
    return (await this.#copiesOf(name)).length > 0;
  }

  async fill(name: LayerName, tar: TarSource, onWait?: () => void): Promise<void> {
    const key = keyOf(name);
    this.#sources.delete(key); // the latest is last
    this.#sources.set(key, tar);
    const { mostSources } = this.#options;
    for (const oldest of [...this.#sources.keys()].slice(0, -mostSources)) this.#sources.delete(oldest);
    if (this.#seen.has(key)) return;
    if (onWait !== undefined && !(await this.has(name))) onWait();
    await this.#fillOnce(name, tar);
    this.#seen.add(key);
  }

  /** Unpacks the first copy, once for all callers. */
  #fillOnce(name: LayerName, tar: TarSource): Promise<void> {
    const key = keyOf(name);
    let coming = this.#coming.get(key);
    if (coming === undefined) {
      coming = this.#fillFirst(name, tar).finally(() => this.#coming.delete(key));
      this.#coming.set(key, coming);
    }
    return coming;
  }

  async list(): Promise<readonly LayerFacts[]> {
    return sealsIn(await this.#volumes());
  }

  /** Removes every copy that no sandbox is mounted over. */
  async remove(name: LayerName): Promise<"removed" | "in-use"> {
    const ends: ("removed" | "in-use")[] = [];
    for (const copy of await this.#copiesOf(name)) ends.push(await this.#remove(copy));
    return ends.includes("in-use") ? "in-use" : "removed";
  }

  /** How many of these layers each user has a copy of. */
  async copies(layers: Layers): Promise<ReadonlyMap<number, number>> {
    const found = await Promise.all(namesOf(layers).map((name) => this.#copiesOf(name)));
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
      found.push((await this.#sealed(name, whomFor(name, uid))) ?? (await this.#copied(name, uid)));
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
      const now = await this.#sealed(layer, layer.for);
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
      filling: this.#filling,
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

  async #sealed(name: LayerName, whom: CopyFor): Promise<SealedLayer | null> {
    const volume = await this.#options.engine.volume(sealName(this.#options.instance, name, whom));
    return volume === null ? null : sealedIn(volume);
  }

  async #copiesOf(name: LayerName): Promise<readonly SealedLayer[]> {
    return sealsIn(await this.#options.engine.volumes(copiesPrefix(this.#options.instance, name)));
  }

  /** Makes the copy for a user that the caller holds. */
  async #copied(name: LayerName, uid: number): Promise<SealedLayer> {
    const source = this.#sources.get(keyOf(name));
    if (source === undefined) return missing(name);
    if (name.kind === "environment") await this.#fillOnce(name, source);
    else await this.#fill(name, source, uid);
    return (await this.#sealed(name, whomFor(name, uid))) ?? missing(name);
  }

  /** A layer that was never mounted from here counts as used when it was first seen. */
  #lastUsed(layer: SealedLayer): number {
    const key = layer.seal.name;
    const known = this.#usedMs.get(key) ?? this.#options.now();
    this.#usedMs.set(key, known);
    return known;
  }

  async #fillFirst(name: LayerName, tar: TarSource): Promise<void> {
    if (await this.has(name)) return;
    await this.#options.withUid(
      name.kind === "environment" ? "owner" : "layered",
      ([lowest]) => lowest,
      (uid) => this.#fill(name, tar, uid),
    );
  }

  async #fill(name: LayerName, tar: TarSource, uid: number): Promise<void> {
    const { engine, instance, owner, newName, now } = this.#options;
    const volumes = PARTS[name.kind].map(() => partName(instance, newName()));
    for (const volume of volumes) this.#filling.add(volume);
    try {
      let bytes = 0;
      for (const [at, part] of PARTS[name.kind].entries()) {
        const volume = volumes[at] ?? "";
        await engine.createVolume(volume, partLabels(instance, owner));
        const filler = await this.#options.filler(volume, uid, name.kind === "environment");
        bytes = await unpack(filler, name, part, tar());
      }
      const whom = whomFor(name, uid);
      const labels = sealLabels(instance, name, whom, bytes, volumes);
      const sealing = sealName(instance, name, whom);
      const seal = sealedIn(await engine.createVolume(sealing, labels));
      this.#usedMs.set(sealing, now());
      if (seal?.volumes.join() !== volumes.join()) await this.#discard(volumes); // another runner was first
    } catch (error) {
      await this.#discard(volumes);
      throw error;
    } finally {
      for (const volume of volumes) this.#filling.delete(volume);
    }
  }

  /** `tidy` removes the volumes that cannot be removed now. */
  async #discard(volumes: readonly string[]): Promise<void> {
    await Promise.allSettled(volumes.map((volume) => this.#options.engine.removeVolume(volume)));
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

function whomFor({ kind }: LayerName, uid: number): CopyFor {
  return kind === "environment" ? "all" : uid;
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

function missing({ kind, digest }: LayerName): never {
  throw failed(`the layer of the ${kind} ${digest.slice(0, 12)} is no longer there`);
}
