/** The parts of the runner as jobs see them. */
import { AntiphonError, BUCKETS } from "@antiphon/contracts";
import { openBlobs, openKv, systemClock, uniqueId, type Meter, type ServiceContext } from "@antiphon/runtime";
import type { SandboxConfig } from "../config.ts";
import { Environments } from "../environments/environments.ts";
import type { LayerArchive } from "../environments/layer-archive.ts";
import type { Images } from "../images/images.ts";
import { Layering } from "../layers/layering.ts";
import type { WarmPool } from "../pool/pool.ts";
import type { Preloader } from "../pool/preloader.ts";
import type { ContainerLimits, SandboxProvider } from "../ports.ts";
import { containerLabels, containerName, type RunnerIdentity } from "../reaper/container-labels.ts";
import type { TreeArchive } from "../workspace/tree-archive.ts";
import { linkEgress } from "./egress-link.ts";
import { Evidence } from "./evidence.ts";
import type { ServiceOptions } from "./job-service.ts";
import { LEFT_BY_SPARE } from "./slots.ts";

interface Parts {
  readonly config: SandboxConfig;
  readonly provider: SandboxProvider;
  readonly defaults: ContainerLimits;
  readonly identity: RunnerIdentity;
  readonly images: Images;
  readonly trees: TreeArchive;
  readonly layers: LayerArchive;
  readonly preloader: Preloader;
  readonly pool: WarmPool;
  readonly meter: Meter;
}

export function jobPorts(
  { bus, log, node }: ServiceContext,
  { config, provider, defaults, identity, images, trees, layers, preloader, pool, meter }: Parts,
): ServiceOptions["ports"] {
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
