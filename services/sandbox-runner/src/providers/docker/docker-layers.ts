/**
 * Starts sandboxes that the engine mounts over layers, with the two kinds of containers that prepare them: one keeps the
 * top until the sandbox has it, one unpacks a layer. Both run our own image, because paths of the engine's host lead
 * through what they make.
 */
import { AntiphonError } from "@antiphon/contracts";
import { uniqueId } from "@antiphon/runtime";
import type { SupervisedSandbox } from "../../conversation/supervised-sandbox.ts";
import { LAYERED_HOME, type Layers } from "../../layers/layer-store.ts";
import { VolumeLayers } from "../../layers/volume-layers.ts";
import type { Command, ContainerSpec, SandboxOrder } from "../../ports.ts";
import { bestUid } from "../sandbox-uids.ts";
import { isPlainPath, TOP_DIRECTORIES, WORKSPACE } from "../workspace-mounts.ts";
import type { Engine } from "./docker-engine.ts";
import type { UidLeases } from "./uid-leases.ts";

const TOOL_ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" };
const TOOL_MS = 10_000;
const TOOL_BYTES = 16 * 1024;

export interface DockerLayersOptions {
  readonly engine: Engine;
  readonly instance: string;
  /** See ownLabel of the runtime. */
  readonly owner: string;
  /** The limits and labels of the containers that unpack layers. */
  readonly order: () => Pick<SandboxOrder, "limits" | "labels">;
  /** The most jobs at one time. */
  readonly slots: number;
  /** The id of our own image. */
  readonly ownImage: () => Promise<string>;
  readonly uids: UidLeases;
  readonly start: (
    spec: ContainerSpec,
    shared?: { readonly since?: number; readonly confirmed?: string },
  ) => Promise<SupervisedSandbox>;
}

interface Top {
  /** Of the container that keeps it. */
  readonly keeper: string;
  /** Where the engine has it. */
  readonly path: string;
  /** Ends the container that keeps it. */
  readonly end: () => void;
}

export class DockerLayers {
  readonly store: VolumeLayers;
  readonly #options: DockerLayersOptions;

  constructor(options: DockerLayersOptions) {
    this.#options = options;
    const { engine, instance, owner, order, slots, ownImage, uids, start } = options;
    const own = async () => ({ ...order(), imageId: await ownImage() });
    this.store = new VolumeLayers({
      engine,
      instance,
      owner,
      newName: () => uniqueId(),
      mostSources: 2 * slots, // a tree and an environment
      withUid: (part, choose, work) => uids.use(part, choose, work),
      filler: async (volume, uid, shared) =>
        start({ ...(await own()), uid, workspace: { kind: "fill", volume, shared } }),
      trial: async (layers) => this.#tried({ ...(await own()), layers }),
      now: () => Date.now(),
    });
  }

  async start(order: SandboxOrder, layers: Layers): Promise<SupervisedSandbox> {
    const since = performance.now();
    const copies = await this.store.copies(layers);
    return this.#options.uids.use(
      "layered",
      (free) => bestUid(free, copies),
      (uid) => this.#over(order, layers, uid, since),
      ({ letGo }) => letGo,
    );
  }

  async #over(order: SandboxOrder, layers: Layers, uid: number, since: number): Promise<SupervisedSandbox> {
    const lowers = await this.store.lowers(layers, uid);
    const top = await this.#top(order, uid);
    try {
      const { tree, environment } = lowers;
      const workspace = { kind: "layers", top: top.path, tree, environment } as const;
      const sandbox = await this.#options.start(
        { ...order, uid, workspace },
        { since, confirmed: top.keeper },
      );
      try {
        await this.store.stillSealed(lowers);
        return sandbox;
      } catch (error) {
        await sandbox.destroy({ kind: "canceled", reason: "its layer was removed" });
        throw error;
      }
    } finally {
      top.end(); // the overlays of the sandbox keep the memory
    }
  }

  /** A tmpfs on the engine with the directories that overlays need, and a container that keeps it until a sandbox does. */
  async #top({ limits, labels }: SandboxOrder, uid: number): Promise<Top> {
    const { engine, ownImage, start } = this.#options;
    const keeper = await start({
      limits,
      labels,
      uid,
      imageId: await ownImage(),
      workspace: { kind: "top" },
    });
    const end = (): void => {
      // A container that cannot be removed is the reaper's.
      keeper.destroy({ kind: "canceled", reason: "its top is in use" }).catch(() => undefined);
    };
    try {
      const { Mounts } = await engine.inspect(keeper.id);
      const made = await keeper.run(command(["mkdir", ...TOP_DIRECTORIES]));
      const [mount] = Mounts as readonly { readonly Source?: string }[];
      if (made.exitCode === 0 && mount?.Source !== undefined && isPlainPath(mount.Source))
        return { keeper: keeper.id, path: mount.Source, end };
      throw failed(`no top could be made: ${made.stderr.tail.trim()}`);
    } catch (error) {
      end();
      throw error;
    }
  }

  async #tried(order: SandboxOrder & { readonly layers: Layers }): Promise<void> {
    const { runtime } = order.limits;
    if (runtime !== "runc") throw failed(`only runc is known to mount layers, and the runtime is ${runtime}`);
    const sandbox = await this.start(order, order.layers);
    try {
      const script = `echo x > ${WORKSPACE}/x && echo x > ${LAYERED_HOME}/x`;
      const exit = await sandbox.run(command(["sh", "-c", script]));
      if (exit.exitCode !== 0) throw failed(`a sandbox over layers cannot write: ${exit.stderr.tail.trim()}`);
    } finally {
      await sandbox.destroy({ kind: "canceled", reason: "layers were tried" });
    }
  }
}

function command(argv: readonly string[]): Command {
  const bytes = { keepBytes: TOOL_BYTES, maxOutputBytes: TOOL_BYTES };
  return { argv, cwd: WORKSPACE, env: TOOL_ENV, stdin: null, timeoutMs: TOOL_MS, ...bytes };
}

function failed(why: string): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_FAILED", why);
}
