/**
 * Sandboxes from Docker: create, attach, start, inspect, greet.
 *
 * When any of these fails, the new container is removed. When the removal fails too, the first error is reported; the
 * container has lost its line and is not held, so its supervisor or the reaper ends it.
 */
import type { Duplex } from "node:stream";
import { AntiphonError } from "@antiphon/contracts";
import { createBody, differences, type Environment } from "../container-spec.ts";
import { requireServicePaths } from "../../beside/service-paths.ts";
import { SUPERVISOR_COMMAND, SUPERVISOR_ENTRYPOINT } from "../../supervisor/command.ts";
import type {
  ContainerSpec,
  ImageFacts,
  SandboxOrder,
  SandboxProvider,
  WorkspaceSource,
} from "../../ports.ts";
import { LAYERED_HOME } from "../../layers/layer-store.ts";
import type { VolumeLayers } from "../../layers/volume-layers.ts";
import { DockerLayers, type DockerLayersOptions } from "./docker-layers.ts";
import seccompProfile from "../../../seccomp.json" with { type: "json" };
import { statusOf } from "./docker-call.ts";
import type { Engine } from "./docker-engine.ts";
import { dockerLine } from "./docker-line.ts";
import { beginOf } from "../sandbox-uids.ts";
import { anyUid, UidLeases } from "./uid-leases.ts";
import { SupervisedSandbox, type Place } from "../../conversation/supervised-sandbox.ts";
import { readPack, type SupervisorPack } from "../../conversation/supervisor-pack.ts";

export const DOCKER_ENVIRONMENT: Environment = {
  entrypoint: SUPERVISOR_ENTRYPOINT,
  command: SUPERVISOR_COMMAND,
  seccomp: JSON.stringify(seccompProfile),
};

export interface DockerProviderOptions {
  readonly engine: Engine;
  /** Makes a new container name. */
  readonly newName: () => string;
  /**
   * Our own image, the only one that is trusted with the directories that the engine mounts. It also gives its perl to
   * images without one (supervisor-pack.ts).
   */
  readonly ownImage?: string;
  /** Whose layers these are; absent where sandboxes are never layered. */
  readonly layers?: Pick<DockerLayersOptions, "instance" | "owner" | "order" | "slots">;
}

/** What a container shares with others: the time of the request, and its user. */
interface Shared {
  readonly since?: number;
  /** A container of this user that is there already. */
  readonly confirmed?: string;
}

export class DockerProvider implements SandboxProvider {
  readonly name = "docker";
  readonly hasGroups = true;
  readonly enforces = { memory: true, processes: true };
  readonly #engine: Engine;
  readonly #newName: () => string;
  readonly #images = new Map<string, ImageFacts>();
  readonly #ownImage: string | null;
  readonly #layered: DockerLayers | null;
  readonly #uids: UidLeases;
  #pack: Promise<SupervisorPack | null> | null = null;
  readonly #live = new Map<string, SupervisedSandbox>();

  constructor(options: DockerProviderOptions) {
    this.#engine = options.engine;
    this.#newName = options.newName;
    this.#ownImage = options.ownImage ?? null;
    const begin = options.layers === undefined ? 0 : beginOf(options.layers.instance);
    this.#uids = new UidLeases(options.engine, begin);
    this.#layered =
      options.layers === undefined
        ? null
        : new DockerLayers({
            engine: this.#engine,
            ...options.layers,
            ownImage: () => this.#ownId(),
            uids: this.#uids,
            start: (spec, shared) => this.#start(spec, shared),
          });
  }

  get layers(): VolumeLayers | undefined {
    return this.#layered?.store;
  }

  ping(): Promise<void> {
    return this.#engine.ping();
  }

  async image(reference: string): Promise<ImageFacts | null> {
    const facts = await this.#engine.image(reference);
    if (facts !== null) this.#images.set(facts.id, facts);
    return facts;
  }

  /** Ids of the containers that this provider holds. The reaper leaves them alone. */
  held(): ReadonlySet<string> {
    return new Set(this.#live.keys());
  }

  /**
   * Tells each sandbox when the engine reports that it ran out of memory. Ends with the signal; throws when the engine
   * goes away.
   */
  watchMemory(instance: string, signal: AbortSignal): Promise<void> {
    return this.#engine.watchMemory(instance, (id) => this.#live.get(id)?.memoryRanOut(), signal);
  }

  async start(order: SandboxOrder): Promise<SupervisedSandbox> {
    const { layers } = order;
    if (layers === undefined || (layers.tree === null && layers.environment === null))
      return this.#alone({ ...order, workspace: { kind: "memory" } });
    if (this.#layered === null) throw refused("this provider has no layers");
    return this.#layered.start(order, layers);
  }

  async #ownId(): Promise<string> {
    const facts = this.#ownImage === null ? null : await this.image(this.#ownImage);
    if (facts === null) throw new AntiphonError("ANT_SANDBOX_IMAGE_MISSING", "layers need the default image");
    return facts.id;
  }

  /** Starts a container as a user that no other has. */
  #alone(spec: Omit<ContainerSpec, "uid">): Promise<SupervisedSandbox> {
    const start = (uid: number): Promise<SupervisedSandbox> => this.#start({ ...spec, uid });
    return this.#uids.use("other", anyUid, start, ({ letGo }) => letGo);
  }

  async #start(spec: ContainerSpec, { since, confirmed }: Shared = {}): Promise<SupervisedSandbox> {
    const begun = since ?? performance.now();
    const image = this.#images.get(spec.imageId) ?? (await this.image(spec.imageId));
    if (image === null)
      throw new AntiphonError("ANT_SANDBOX_IMAGE_MISSING", `image ${spec.imageId} is not there`);
    const { tmpfs = [] } = spec;
    requireServicePaths(tmpfs);
    const uncovered = image.volumes.filter((path) => !tmpfs.includes(path));
    if (uncovered.length > 0)
      throw refused(
        `image ${image.id} declares volumes, so it is for services only: ${uncovered.join(", ")}`,
      );
    const id = await this.#create(spec);
    let stream: Duplex | null = null;
    try {
      const isOwn = this.#uids.confirm(spec.uid, id, confirmed);
      isOwn.catch(() => undefined); // it is awaited below
      stream = await this.#engine.attach(id);
      await isOwn; // sandbox-runner/S11
      await this.#engine.start(id);
      const line = dockerLine(this.#engine, id, stream, this.#engine.removed(id)); // only after `start` was answered
      const sandbox = new SupervisedSandbox(line, spec.imageId, begun, placeOf(spec.workspace));
      this.#live.set(id, sandbox);
      void sandbox.letGo.then(() => this.#live.delete(id));
      const [actual] = await Promise.all([this.#engine.inspect(id), sandbox.greet()]);
      const found = differences(spec, DOCKER_ENVIRONMENT, image, actual);
      if (found.length === 0) return await this.#sealed(sandbox, spec);
      throw refused(`the engine's container differs: ${found.join("; ")}`); // sandbox-runner/S1
    } catch (error) {
      stream?.destroy(); // before the removal, which may fail
      this.#live.delete(id);
      await this.#engine.remove(id).catch(() => undefined);
      throw error;
    }
  }

  /** Gives the pack to a plain supervisor. Called only for a container that has been compared. */
  async #sealed(sandbox: SupervisedSandbox, order: ContainerSpec): Promise<SupervisedSandbox> {
    if (!sandbox.isPlain || this.#ownImage === null || this.#ownImage === order.imageId) return sandbox;
    this.#pack ??= this.#readPack({ ...order, imageId: this.#ownImage, workspace: { kind: "memory" } });
    const pack = await this.#pack;
    if (pack !== null) await sandbox.promote(pack);
    return sandbox;
  }

  /** Runs once per provider, and again after the engine failed. */
  async #readPack(order: Omit<ContainerSpec, "uid">): Promise<SupervisorPack | null> {
    try {
      const source = await this.#alone(order);
      try {
        return await readPack(source);
      } finally {
        await source.destroy({ kind: "canceled", reason: "the pack is read" });
      }
    } catch (error) {
      this.#pack = null;
      throw error;
    }
  }

  async #create(order: ContainerSpec): Promise<string> {
    try {
      return await this.#engine.create(createBody(order, DOCKER_ENVIRONMENT), this.#newName());
    } catch (error) {
      if (statusOf(error) !== 404) throw error;
      this.#images.delete(order.imageId);
      throw new AntiphonError("ANT_SANDBOX_IMAGE_MISSING", `image ${order.imageId} is no longer there`, {
        cause: error,
      });
    }
  }
}

function placeOf({ kind }: WorkspaceSource): Place {
  return kind === "layers" ? { home: LAYERED_HOME, isLayered: true } : { home: "/tmp", isLayered: false };
}

function refused(why: string): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_REFUSED", why);
}
