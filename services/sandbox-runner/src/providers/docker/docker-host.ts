/**
 * A runner's Docker host: the provider with the reaper, the watchdog, and a listener for the engine's OOM events.
 *
 * Lifecycle: opened (containers of former runners are removed) -> closed (no container of this runner is left).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { AntiphonError } from "@antiphon/contracts";
import type { Logger } from "@antiphon/runtime";
import type { ProviderHost, SandboxOrder } from "../../ports.ts";
import { reapUntil, sweep, type ReaperOptions } from "../../reaper/reaper.ts";
import { LABELS } from "../../reaper/reap-plan.ts";
import { dockerEngine, type Engine } from "./docker-engine.ts";
import { DockerProvider } from "./docker-provider.ts";
import { startWatchdog } from "../../reaper/watchdog.ts";

const LISTEN_AGAIN_MS = 2_000;
const TIDY_MS = 60_000;

export interface DockerHostOptions {
  readonly instance: string;
  /** See owner.ts. */
  readonly owner: string;
  /** The default image; null when none was built. */
  readonly image: string | null;
  readonly newName: () => string;
  /** The limits and labels of the containers that make layers. */
  readonly layerOrder: () => Pick<SandboxOrder, "limits" | "labels">;
  /** The most jobs at one time. */
  readonly slots: number;
  /** See reaper.ts. */
  readonly isOver: ReaperOptions["isOver"];
  readonly log: Logger;
}

export interface DockerHost extends ProviderHost {
  readonly provider: DockerProvider;
}

/** Rejects with a coded error while Docker or the image is missing. */
export async function openDockerHost(options: DockerHostOptions): Promise<DockerHost> {
  const { instance, owner, log } = options;
  const engine = dockerEngine();
  await engine.ping();
  const image = options.image === null ? null : await engine.image(options.image);
  if (image === null)
    throw new AntiphonError(
      "ANT_SANDBOX_IMAGE_MISSING",
      `image ${options.image ?? "(none built)"} is not there`,
    );
  const layers = { instance, owner, order: options.layerOrder, slots: options.slots };
  const provider = new DockerProvider({ engine, newName: options.newName, ownImage: image.id, layers });
  const stop = new AbortController();
  const reaper: ReaperOptions = {
    engine,
    instance,
    self: () => ({ owner, held: provider.held() }),
    isOver: options.isOver,
    onReaped: (id, reason) => log.warn({ container: id.slice(0, 12), reason }, "orphan removed"),
    onFailure: (error) => log.warn({ err: error }, "reaping failed"),
  };
  const address = await engine.address();
  const watchdog = address === null ? null : startWatchdog(address, { instance, owner });
  if (watchdog === null)
    log.warn("the engine is not local: if this process is killed, its containers stay until its next start");
  await sweep(reaper, Date.now());
  void reapUntil(reaper, stop.signal);
  void tidyUntil(provider, stop.signal, log);
  void watchMemory(provider, instance, stop.signal, log);
  return {
    provider,
    close: async () => {
      stop.abort();
      await removeOwn(engine, instance, owner).catch(reaper.onFailure);
      await watchdog?.farewell();
    },
  };
}

/**
 * Removes containers that this runner made and lost track of, such as one whose creation was answered on a lost
 * connection. Otherwise they would stay until another runner of the instance starts.
 */
async function removeOwn(engine: Engine, instance: string, owner: string): Promise<void> {
  const own = (await engine.list(instance)).filter(({ labels }) => labels[LABELS.owner] === owner);
  await Promise.all(own.map(({ id }) => engine.remove(id)));
}

/** Removes unused and abandoned layers now and from time to time. */
async function tidyUntil(provider: DockerProvider, signal: AbortSignal, log: Logger): Promise<void> {
  while (!signal.aborted) {
    try {
      const removed = (await provider.layers?.tidy()) ?? [];
      if (removed.length > 0) log.info({ volumes: removed }, "layers removed");
    } catch (error) {
      log.warn({ err: error }, "layers could not be tidied");
    }
    await sleep(TIDY_MS, undefined, { signal, ref: false }).catch(() => undefined); // aborted: the loop ends
  }
}

/** Follows the engine's OOM events, and starts again after the engine was away. */
async function watchMemory(
  provider: DockerProvider,
  instance: string,
  signal: AbortSignal,
  log: Logger,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await provider.watchMemory(instance, signal);
    } catch (error) {
      log.warn(
        { err: error },
        "engine events lost; until they return, a sandbox that runs out of memory is reported as crashed",
      );
    }
    await sleep(LISTEN_AGAIN_MS, undefined, { ref: false });
  }
}
