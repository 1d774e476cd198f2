/**
 * Puts the sandbox-runner together: engine, provider, pool, reaper, service.
 *
 * Lifecycle: waiting for Docker and the image (said in the log, with the remedy, until both are there) -> serving
 * -> draining (jobs finish) -> stopped (nothing of this runner is left on the engine).
 */
import { AntiphonError, BUCKETS } from "@antiphon/contracts";
import { openBlobs, uniqueId, type Logger, type Role, type ServiceContext } from "@antiphon/runtime";
import { dockerEngine, type Engine } from "./adapters/docker-engine.ts";
import { DockerProvider } from "./adapters/docker-provider.ts";
import { Evidence } from "./adapters/evidence.ts";
import { ownLabel } from "./adapters/owner.ts";
import { WarmPool } from "./adapters/pool.ts";
import { startWatchdog } from "./adapters/watchdog.ts";
import { TreeArchive } from "./adapters/tree-archive.ts";
import type { SandboxConfig } from "./config.ts";
import { defaultLimits } from "./core/job-limits.ts";
import { containerLabels, containerName } from "./core/container-labels.ts";
import type { ImageFacts } from "./ports.ts";
import { reapUntil, sweep, type ReaperOptions } from "./reaper.ts";
import { SandboxService } from "./service.ts";

const WARM_AGE_MS = 60 * 60_000;
const RETRY_MS = 2_000;
const TEND_MS = 30_000;

export interface Runner extends Role {
  readonly pool: WarmPool;
  readonly provider: DockerProvider;
}

export async function startSandboxRunner(
  context: ServiceContext,
  readConfig: () => SandboxConfig,
): Promise<Runner> {
  const { bus, log, node } = context;
  const engine = dockerEngine();
  const { config, image } = await ready(engine, readConfig, log, context.signal);
  const owner = ownLabel();
  const { instance } = config;
  const provider = new DockerProvider({ engine, newName: () => containerName(instance, null, uniqueId()) });
  await provider.image(image.id);
  const identity = { instance, node, owner };
  const stop = new AbortController();
  const reaper: ReaperOptions = {
    engine,
    instance,
    self: () => ({ owner, held: provider.held() }),
    onReaped: (id, reason) => log.warn({ container: id.slice(0, 12), reason }, "orphan removed"),
    onFailure: (error) => log.warn({ err: error }, "reaping failed"),
  };
  const address = await engine.address();
  const watchdog = address === null ? null : startWatchdog(address, instance, owner);
  if (watchdog === null)
    log.warn("the engine is not local: if this process is killed, its next start cleans up");
  await sweep(reaper, Date.now());
  void reapUntil(reaper, stop.signal);
  void watchMemory(provider, instance, stop.signal, log);

  const defaults = defaultLimits(config.runtime);
  const pool = new WarmPool({
    provider,
    bounds: { warm: config.warm, slots: config.slots },
    maxAgeMs: WARM_AGE_MS,
    order: () => ({
      imageId: image.id,
      limits: defaults,
      labels: containerLabels(identity, null, Date.now() + WARM_AGE_MS),
    }),
    onFailure: (error) => log.warn({ err: error, ...AntiphonError.from(error).toJSON() }, "sandbox pool"),
    now: () => performance.now(),
  });
  const repos = openBlobs(bus, BUCKETS.repos);
  const service = new SandboxService({
    bus,
    log,
    slots: config.slots,
    signal: context.signal,
    ports: {
      node,
      defaults,
      image: (asked) => allowedImage(asked, image, config, provider),
      lease: async (order, request) => {
        const lease = await pool.take({ ...order, labels: containerLabels(identity, request, Date.now()) });
        void lease.sandbox.assign(containerName(instance, request, uniqueId()));
        return lease;
      },
      sources: {
        trees: new TreeArchive(config.treeDirectory, repos, config.treeBytes),
        blob: (ref) => openBlobs(bus, ref.bucket).get(ref),
      },
      evidence: new Evidence(openBlobs(bus, BUCKETS.evidenceFiles)),
    },
  });
  pool.refill();
  // What has grown too old while nobody asked is replaced before somebody does (W4).
  const tending = setInterval(() => {
    pool.refill();
  }, TEND_MS);
  tending.unref();
  service.serve();
  log.info({ instance, image: image.id, slots: config.slots, warm: config.warm }, "sandboxes available");

  return {
    pool,
    provider,
    drain: async () => {
      clearInterval(tending);
      await pool.close();
      await service.settled();
      stop.abort();
      await watchdog?.farewell();
    },
  };
}

/** Docker and the image, however long they take; what is missing is said with its remedy. */
async function ready(
  engine: Engine,
  readConfig: () => SandboxConfig,
  log: Logger,
  signal: AbortSignal,
): Promise<{ config: SandboxConfig; image: ImageFacts }> {
  for (let attempt = 0; ; attempt += 1) {
    signal.throwIfAborted();
    const config = readConfig();
    try {
      await engine.ping();
      const image = config.image === null ? null : await engine.image(config.image);
      if (image !== null) return { config, image };
      throw new AntiphonError(
        "ANT_SANDBOX_IMAGE_MISSING",
        `image ${config.image ?? "(none built)"} is not there`,
      );
    } catch (error) {
      if (attempt % 10 === 0) log.error({ ready: false, ...AntiphonError.from(error).toJSON() }, "not ready");
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}

/** The default, or one of the allowlist; by what it is, not by what it is called. */
async function allowedImage(
  asked: string | null,
  standard: ImageFacts,
  config: SandboxConfig,
  provider: DockerProvider,
): Promise<ImageFacts> {
  if (asked === null || asked === standard.id || asked === config.image) return standard;
  if (!config.allow.includes(asked)) {
    throw new AntiphonError(
      "ANT_SANDBOX_REFUSED",
      `image ${asked} is not allowed; ANTIPHON_SANDBOX_ALLOW names those that are`,
    );
  }
  const facts = await provider.image(asked);
  if (facts !== null) return facts;
  throw new AntiphonError("ANT_SANDBOX_IMAGE_MISSING", `image ${asked} is not on this engine`);
}

/** Follows the engine's OOM events; begins again when the engine was away. */
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
        "engine events lost; memory exhaustion of a whole sandbox reads as a crash meanwhile",
      );
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
  }
}
