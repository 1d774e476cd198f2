/**
 * Assembles the sandbox-runner: provider, pool, services.
 *
 * Lifecycle: waiting for the provider and the image (the log says what is missing, with the remedy) -> serving ->
 * draining (jobs finish) -> stopped (no container of this runner is left).
 */
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AntiphonError, BUCKETS, limits, requestProblem, subjects, validate } from "@antiphon/contracts";
import {
  allDone,
  openBlobs,
  openJournal,
  openKv,
  systemClock,
  openSigningKey,
  pinRunnerKey,
  removeUnfinishedUntil,
  serveRpc,
  silentMeter,
  signOutcome,
  uniqueId,
  type Bus,
  type Logger,
  type Role,
  type Meter,
  type ServiceContext,
  type SigningKey,
} from "@antiphon/runtime";
import { AllowlistFile } from "./images/allowlist-file.ts";
import { linkEgress } from "./jobs/egress-link.ts";
import { Evidence } from "./jobs/evidence.ts";
import { removeSurplusUntil } from "./environments/environment-upkeep.ts";
import { Environments } from "./environments/environments.ts";
import { KEPT_LAYER_BYTES, LayerArchive } from "./environments/layer-archive.ts";
import { Layering } from "./layers/layering.ts";
import { Preloader } from "./pool/preloader.ts";
import { ownLabel } from "@antiphon/runtime";
import { WarmPool } from "./pool/pool.ts";
import { swapFault, swapGrant, withSwap } from "./pool/swap-grant.ts";
import { measureSandboxes } from "./pool/pool-metrics.ts";
import { TreeArchive } from "./workspace/tree-archive.ts";
import type { SandboxConfig } from "./config.ts";
import { defaultLimits } from "./job-limits.ts";
import { containerLabels, containerName, type RunnerIdentity } from "./reaper/container-labels.ts";
import { Images } from "./images/images.ts";
import type { ContainerLimits, ImageFacts, ProviderHost, Sandbox, SandboxProvider } from "./ports.ts";
import { openProviderHost, refuseProvider } from "./providers/provider-host.ts";
import { SandboxService, type ServiceOptions } from "./jobs/job-service.ts";
import { SessionService } from "./sessions/session-service.ts";
import { LEFT_BY_SPARE, Slots } from "./jobs/slots.ts";

const WARM_AGE_MS = 60 * 60_000;
const RETRY_MS = 2_000;
/** Waiting seldom helps here, and each try may cost money or time. */
const REFUSALS: ReadonlySet<string> = new Set(["ANT_SANDBOX_PROVIDER", "ANT_SANDBOX_REFUSED"]);
const REFUSED_RETRY_MS = 30_000;
const TEND_MS = 30_000;

export interface Runner extends Role {
  readonly pool: WarmPool;
  readonly provider: SandboxProvider;
}

export async function startSandboxRunner(
  context: ServiceContext,
  readConfig: () => SandboxConfig,
): Promise<Runner> {
  const { bus, log, node, signal } = context;
  const owner = ownLabel();
  const key = signingKeyOf(readConfig(), log);
  const { config, host } = await ready(readConfig, { node, owner }, context);
  const { provider } = host;
  const identity = { instance: config.instance, node, owner };

  const least = defaultLimits(config.runtime);
  const images = new Images({
    node,
    provider,
    allowlist: new AllowlistFile(config.allowlistFile),
    standard: () => readConfig().image,
    configured: config.allow,
    start: (tried) => startTrial(tried, provider, identity, least),
    now: () => new Date(),
  });
  const image = await images.standard();
  const defaults = await grownBySwap(least, config, log, (bounds) =>
    startTrial(image, provider, identity, bounds),
  );
  const { trees, layers } = openCaches(context, config);
  const preloader = new Preloader(trees);
  const pool = new WarmPool({
    provider,
    bounds: { warm: config.warm, slots: config.slots },
    maxAgeMs: WARM_AGE_MS,
    order: () => ({
      imageId: (images.known ?? image).id,
      limits: defaults,
      labels: containerLabels(identity, null, Date.now() + WARM_AGE_MS),
      ...(preloader.layers === null ? {} : { layers: preloader.layers }),
    }),
    preload: (...asked) => preloader.preload(...asked),
    onFailure: (error) => {
      preloader.forgetLayers();
      log.warn({ err: error, ...AntiphonError.from(error).toJSON() }, "sandbox pool");
    },
    now: () => performance.now(),
  });
  const slots = new Slots(config.slots);
  const meter = context.metrics ?? silentMeter;
  measureSandboxes(meter, pool, slots);
  const ports = jobPorts({
    bus,
    log,
    node,
    config,
    provider,
    defaults,
    identity,
    images,
    trees,
    layers,
    preloader,
    pool,
    meter,
  });
  const sign = (digest: string): string => signOutcome(key, digest);
  const service = new SandboxService({ bus, log, slots, signal, ports, sign, meter });
  const sessions = new SessionService({ bus, log, slots, ports });
  pool.refill();
  // Replaces sandboxes that have grown too old, before a job asks for one.
  const tending = setInterval(() => pool.refill(), TEND_MS).unref();
  void tendEnvironments(bus, log, signal);
  service.serve();
  serveImages(bus, images, log);
  sessions.serve();
  log.info(
    {
      instance: config.instance,
      provider: provider.name,
      enforces: provider.enforces,
      image: image.id,
      slots: config.slots,
      warm: config.warm,
    },
    "sandboxes available",
  );

  return {
    pool,
    provider,
    drain: async () => {
      clearInterval(tending);
      await ended(pool, sessions, slots, host);
    },
  };
}

/** A sandbox that shows whether an image can be one, or a service's container. */
function startTrial(
  { id: imageId, volumes: tmpfs }: ImageFacts,
  provider: SandboxProvider,
  identity: RunnerIdentity,
  limits: ContainerLimits,
): Promise<Sandbox> {
  return provider.start({
    imageId,
    limits,
    labels: containerLabels(identity, null, Date.now()),
    ...(tmpfs.length === 0 ? {} : { tmpfs }),
  });
}

function openTrees(bus: Bus, { treeDirectory, treeBytes }: SandboxConfig): TreeArchive {
  const repos = openBlobs(bus, BUCKETS.repos);
  const stream = (name: string): AsyncIterable<Buffer> =>
    repos.stream(name, { deadlineMs: limits.treeTransferMs });
  return new TreeArchive(treeDirectory, { stream }, treeBytes);
}

/** The trees and layers on this machine's disk. */
function openCaches(
  { bus, log, signal }: ServiceContext,
  config: SandboxConfig,
): { trees: TreeArchive; layers: LayerArchive } {
  const trees = openTrees(bus, config);
  const layers = new LayerArchive(
    join(dirname(config.treeDirectory), "environments"),
    openBlobs(bus, BUCKETS.layers, { mayPurge: true }),
    KEPT_LAYER_BYTES,
  );
  void sweepUntil([trees, layers], log, signal);
  return { trees, layers };
}

/** What killed processes left on the disk goes at start and every hour, also while no tree arrives. */
async function sweepUntil(
  caches: readonly Pick<TreeArchive, "sweep">[],
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const cache of caches)
      await cache.sweep().catch((error: unknown) => log.warn({ err: error }, "cache not swept"));
    await systemClock.sleep(SWEEP_MS, signal);
  }
}

const SWEEP_MS = 3_600_000;

/** The limits with as much swap as the machine has for all sandboxes. */
async function grownBySwap(
  least: ContainerLimits,
  { swapBytes: bytes, slots, provider, runtime }: SandboxConfig,
  log: Logger,
  start: (bounds: ContainerLimits) => Promise<Sandbox>,
): Promise<ContainerLimits> {
  const fault = swapFault(provider, runtime);
  const grant = await swapGrant({ bytes, slots, fault, trial: (swap) => start(withSwap(least, swap)) });
  if (grant.why !== null)
    log.warn({ reason: grant.why }, "no swap for sandboxes: a workspace is in memory alone");
  return withSwap(least, grant.bytes);
}

interface Parts {
  readonly bus: Bus;
  readonly log: Logger;
  readonly node: string;
  readonly config: SandboxConfig;
  readonly provider: SandboxProvider;
  readonly defaults: ContainerLimits;
  readonly identity: Parameters<typeof containerLabels>[0];
  readonly images: Images;
  readonly trees: TreeArchive;
  readonly layers: LayerArchive;
  readonly preloader: Preloader;
  readonly pool: WarmPool;
  readonly meter: Meter;
}

/** Removes environments that nobody needs any more, and what was stored of them by halves, until the signal aborts. */
async function tendEnvironments(bus: Bus, log: Logger, signal: AbortSignal): Promise<void> {
  const unfinished = removeUnfinishedUntil({ bus, bucket: BUCKETS.layers, clock: systemClock, log }, signal);
  const surplus = removeSurplusUntil(
    {
      records: openKv(bus, BUCKETS.environments),
      layers: openBlobs(bus, BUCKETS.layers, { mayPurge: true }),
      clock: systemClock,
      onRemoved: (environment) => log.info(environment, "environment removed"),
      onFailure: (error) =>
        log.warn({ ...AntiphonError.from(error).toJSON() }, "old environments are not removed"),
    },
    signal,
  );
  await allDone([unfinished, surplus]);
}

/** What jobs and sessions reach of the runner. */
function jobPorts(parts: Parts): ServiceOptions["ports"] {
  const {
    bus,
    log,
    node,
    config,
    provider,
    defaults,
    identity,
    images,
    trees,
    layers,
    preloader,
    pool,
    meter,
  } = parts;
  const { instance } = config;
  return {
    node,
    provider: provider.name,
    defaults,
    image: (asked) => images.resolve(asked),
    lease: async (order, job, wanted) => {
      const { tree, repository } = wanted;
      preloader.wanted({ tree: tree?.name ?? null, repository, layers: order.layers ?? null });
      const begun = performance.now();
      const labels = containerLabels(identity, job, Date.now());
      const lease = await pool.take({ ...order, labels }, wanted, job.spare === true ? LEFT_BY_SPARE : 0);
      const waited = (performance.now() - begun) / 1_000;
      meter.observe("antiphon_sandbox_wait_seconds", { start: lease.warm ? "warm" : "cold" }, waited);
      const nameFor = (epoch: number): void =>
        void lease.sandbox.assign(containerName(instance, { ...job, epoch }, uniqueId()));
      nameFor(job.epoch);
      return { ...lease, goesOnFor: nameFor };
    },
    sources: {
      trees,
      layering: new Layering({
        store: provider.layers,
        onStreamed: (reason) => log.warn({ reason }, "not mounted over layers: files are streamed"),
      }),
      blob: (ref) => openBlobs(bus, ref.bucket).get(ref),
    },
    environments: new Environments({
      records: openKv(bus, BUCKETS.environments),
      layers,
      files: openBlobs(bus, BUCKETS.evidenceFiles),
      platform: `${process.platform}/${process.arch}`,
      clock: systemClock,
      newHolder: () => `${node}.${uniqueId()}`,
    }),
    egress: (job, grant, sandbox) => linkEgress(bus, job, grant, sandbox),
    beside: async (order, main, job) => {
      if (provider.hasGroups !== true || config.runtime !== "runc")
        throw new AntiphonError(
          "ANT_SANDBOX_REFUSED",
          `services need containers of Docker with runc, and this runner has ${provider.name} with ${config.runtime}`,
        );
      const sandbox = await provider.start({
        ...order,
        beside: main.id,
        labels: containerLabels(identity, job, Date.now()),
      });
      void sandbox.assign(containerName(instance, job, uniqueId()));
      return sandbox;
    },
    newWord: () => uniqueId(),
    evidence: new Evidence(openBlobs(bus, BUCKETS.evidenceFiles)),
  };
}

/** The key that signs the outcomes of this runner. Directors must trust it, so that is settled before it takes a job. */
function signingKeyOf({ keyFile, trustedRunnersFile }: SandboxConfig, log: Logger): SigningKey {
  const key = openSigningKey(keyFile, "ANTIPHON_RUNNER_KEY");
  if (trustedRunnersFile !== null) pinRunnerKey(trustedRunnersFile, key.jwk, log);
  return key;
}

/** A container that cannot be removed is reported, but the jobs and the provider are still ended properly. */
async function ended(
  pool: WarmPool,
  sessions: SessionService,
  slots: Slots,
  host: ProviderHost,
): Promise<void> {
  try {
    await allDone([pool.close(), sessions.close()]);
  } finally {
    await slots.settled();
    await host.close();
  }
}

/** Waits for the provider and its image as long as it takes, and logs what is missing with its remedy. */
async function ready(
  readConfig: () => SandboxConfig,
  identity: Omit<RunnerIdentity, "instance">,
  { bus, log, signal }: ServiceContext,
): Promise<{ config: SandboxConfig; host: ProviderHost }> {
  const journal = openJournal(bus, { log });
  for (let attempt = 0; ; attempt += 1) {
    signal.throwIfAborted();
    const config = readConfig();
    refuseProvider(config); // waiting cannot help here
    try {
      return { config, host: await openProviderHost(config, identity, { log, journal }) };
    } catch (error) {
      const known = AntiphonError.from(error);
      const isRefusal = REFUSALS.has(known.code);
      if (isRefusal || attempt % 10 === 0) log.error({ ready: false, ...known.toJSON() }, "not ready");
      await sleep(isRefusal ? REFUSED_RETRY_MS : RETRY_MS, undefined, { signal });
    }
  }
}

function serveImages(bus: Bus, images: Images, log: Logger): void {
  const answer = async (value: unknown): ReturnType<Images["answer"]> => {
    const checked = validate("ImagesRequest", value);
    if (checked.ok) return images.answer(checked.value);
    throw requestProblem("ImagesRequest", value, checked.errors);
  };
  serveRpc(bus, subjects.sandboxImages, "sandbox-runner", answer, { log, name: "sandbox-images" });
}
