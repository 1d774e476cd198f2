/**
 * Assembles the sandbox-runner: provider, pool, services.
 *
 * Lifecycle: waiting for the provider and the image (the log says what is missing, with the remedy) -> serving ->
 * draining (jobs finish) -> stopped (no container of this runner is left).
 */
import { AntiphonError, requestProblem, subjects, validate } from "@antiphon/contracts";
import {
  openSigningKey,
  ownLabel,
  pinRunnerKey,
  serveRpc,
  signOutcome,
  silentMeter,
  type Bus,
  type Logger,
  type Role,
  type ServiceContext,
  type SigningKey,
} from "@antiphon/runtime";
import type { SandboxConfig } from "./config.ts";
import { openCaches, tendEnvironments } from "./environments/wired-caches.ts";
import { AllowlistFile } from "./images/allowlist-file.ts";
import { Images } from "./images/images.ts";
import { defaultLimits } from "./job-limits.ts";
import { SandboxService } from "./jobs/job-service.ts";
import { Slots } from "./jobs/slots.ts";
import { jobPorts } from "./jobs/wired-ports.ts";
import { WarmPool } from "./pool/pool.ts";
import { measureSandboxes } from "./pool/pool-metrics.ts";
import { Preloader } from "./pool/preloader.ts";
import { swapFault, swapGrant, withSwap } from "./pool/swap-grant.ts";
import type { ContainerLimits, ImageFacts, ProviderHost, Sandbox, SandboxProvider } from "./ports.ts";
import { ready } from "./providers/ready.ts";
import { containerLabels, type RunnerIdentity } from "./reaper/container-labels.ts";

const WARM_AGE_MS = 60 * 60_000;
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
    orders: () =>
      preloader.layers.map((layers) => ({
        imageId: (images.known ?? image).id,
        limits: defaults,
        labels: containerLabels(identity, null, Date.now() + WARM_AGE_MS),
        ...(layers === null ? {} : { layers }),
      })),
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
  const own = { config, provider, defaults, identity, images, trees, layers, preloader, pool, meter };
  const ports = jobPorts(context, own);
  const sign = (digest: string): string => signOutcome(key, digest);
  const service = new SandboxService({ bus, log, slots, signal, ports, sign, meter });
  pool.refill();
  // Replaces sandboxes that have grown too old, before a job asks for one.
  const tending = setInterval(() => pool.refill(), TEND_MS).unref();
  void tendEnvironments(bus, log, signal);
  service.serve();
  serveImages(bus, images, log);
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
      await ended(pool, slots, host);
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

/** The key that signs the outcomes of this runner. Directors must trust it, so that is settled before it takes a job. */
function signingKeyOf({ keyFile, trustedRunnersFile }: SandboxConfig, log: Logger): SigningKey {
  const key = openSigningKey(keyFile, "ANTIPHON_RUNNER_KEY");
  if (trustedRunnersFile !== null) pinRunnerKey(trustedRunnersFile, key.jwk, log);
  return key;
}

/** A container that cannot be removed is reported, but the jobs and the provider are still ended properly. */
async function ended(pool: WarmPool, slots: Slots, host: ProviderHost): Promise<void> {
  try {
    await pool.close();
  } finally {
    await slots.settled();
    await host.close();
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
