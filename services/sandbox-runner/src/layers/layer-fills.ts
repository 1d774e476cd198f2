/**
 * Makes the copies of layers: the first of each once for all who ask for it, and one more for each user that needs its own.
 *
 * This process never extracts anything and needs no path of the engine's host: a hardened container of our image, without
 * a network, unpacks the tar that is streamed to it (so it works with an engine elsewhere).
 */
import type { Sandbox } from "../ports.ts";
import type { ChooseUid } from "../providers/docker/uid-leases.ts";
import type { UidPart } from "../providers/sandbox-uids.ts";
import type { LayerName } from "./layer-store.ts";
import { unpack } from "./layer-unpacking.ts";
import {
  keyOf,
  partLabels,
  partName,
  PARTS,
  sealedIn,
  sealLabels,
  sealName,
  whomFor,
} from "./layer-volumes.ts";
import { copiesOf, missing, type LayerPlace } from "./sealed-copies.ts";

export type TarSource = () => AsyncIterable<Buffer>;

export interface LayerFillsOptions extends LayerPlace {
  /** See ownLabel of the runtime. */
  readonly owner: string;
  readonly newName: () => string;
  /** The most layers that are asked for at one time. Where each can be read is held in memory, with the index of its tree. */
  readonly mostSources: number;
  /** Does the work with a user of this part that no container has. */
  readonly withUid: <T>(part: UidPart, choose: ChooseUid, work: (uid: number) => Promise<T>) => Promise<T>;
  /** Starts a container of our own image and of this user, whose UNPACKED is this volume. `shared`: see WorkspaceSource. */
  readonly filler: (volume: string, uid: number, shared: boolean) => Promise<Sandbox>;
  /** Hears of each seal. */
  readonly sealed: (volume: string) => void;
}

export class LayerFills {
  readonly #options: LayerFillsOptions;
  readonly #coming = new Map<string, Promise<void>>();
  /** Where the last layers that were asked for can be read, for further copies. */
  readonly #sources = new Map<string, TarSource>();
  readonly #writing = new Set<string>();

  constructor(options: LayerFillsOptions) {
    this.#options = options;
  }

  /** Volumes that a fill of this process is writing. */
  get writing(): ReadonlySet<string> {
    return this.#writing;
  }

  /** Remembers where the layer can be read. */
  remember(name: LayerName, tar: TarSource): void {
    const key = keyOf(name);
    this.#sources.delete(key); // the latest is last
    this.#sources.set(key, tar);
    for (const oldest of [...this.#sources.keys()].slice(0, -this.#options.mostSources))
      this.#sources.delete(oldest);
  }

  /** Unpacks the first copy, unless there is one. */
  first(name: LayerName, tar: TarSource): Promise<void> {
    const key = keyOf(name);
    let coming = this.#coming.get(key);
    if (coming === undefined) {
      coming = this.#first(name, tar).finally(() => this.#coming.delete(key));
      this.#coming.set(key, coming);
    }
    return coming;
  }

  /** Makes the copy for a user that the caller holds. Rejects when it is not known any more where the layer can be read. */
  async copy(name: LayerName, uid: number): Promise<void> {
    const source = this.#sources.get(keyOf(name));
    if (source === undefined) return missing(name);
    if (name.kind === "environment") await this.first(name, source);
    else await this.#fill(name, source, uid);
  }

  async #first(name: LayerName, tar: TarSource): Promise<void> {
    if ((await copiesOf(this.#options, name)).length > 0) return;
    await this.#options.withUid(
      name.kind === "environment" ? "owner" : "layered",
      ([lowest]) => lowest,
      (uid) => this.#fill(name, tar, uid),
    );
  }

  async #fill(name: LayerName, tar: TarSource, uid: number): Promise<void> {
    const { engine, instance, owner, newName, filler, sealed } = this.#options;
    const volumes = PARTS[name.kind].map(() => partName(instance, newName()));
    for (const volume of volumes) this.#writing.add(volume);
    try {
      let bytes = 0;
      for (const [at, part] of PARTS[name.kind].entries()) {
        const volume = volumes[at] ?? "";
        await engine.createVolume(volume, partLabels(instance, owner));
        const container = await filler(volume, uid, name.kind === "environment");
        bytes = await unpack(container, name, part, tar());
      }
      const whom = whomFor(name, uid);
      const labels = sealLabels(instance, name, whom, bytes, volumes);
      const sealing = sealName(instance, name, whom);
      const seal = sealedIn(await engine.createVolume(sealing, labels));
      sealed(sealing);
      if (seal?.volumes.join() !== volumes.join()) await this.#discard(volumes); // another runner was first
    } catch (error) {
      await this.#discard(volumes);
      throw error;
    } finally {
      for (const volume of volumes) this.#writing.delete(volume);
    }
  }

  /** `VolumeLayers.tidy` removes the volumes that cannot be removed now. */
  async #discard(volumes: readonly string[]): Promise<void> {
    await Promise.allSettled(volumes.map((volume) => this.#options.engine.removeVolume(volume)));
  }
}
