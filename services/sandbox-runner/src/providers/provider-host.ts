/** Chooses the provider of a runner. This is the one place that refuses a provider in production. */
import { AntiphonError, DEFAULT_TEMPLATE, type ProviderName } from "@antiphon/contracts";
import { uniqueId, type Journal, type Logger } from "@antiphon/runtime";
import { openBubblewrapHost } from "./bubblewrap/bubblewrap-provider.ts";
import { openDockerHost } from "./docker/docker-host.ts";
import { openE2bHost } from "./e2b/e2b-provider.ts";
import { openMicrosandboxHost } from "./microsandbox/microsandbox-provider.ts";
import type { SandboxConfig } from "../config.ts";
import { containerLabels, containerName, type RunnerIdentity } from "../reaper/container-labels.ts";
import { defaultLimits } from "../job-limits.ts";
import { refusalOf } from "./provider-rules.ts";
import { ENDS, isOver, type AttemptName } from "../reaper/stale-epoch.ts";
import type { ProviderHost, SandboxOrder } from "../ports.ts";

interface Opening {
  readonly config: SandboxConfig;
  readonly owner: string;
  readonly log: Logger;
  readonly newName: () => string;
  readonly isOver: (attempt: AttemptName) => Promise<boolean>;
  /** The order of a sandbox of no job: a trial whether the provider can, or one in which a layer is made. */
  readonly idleOrder: () => Pick<SandboxOrder, "limits" | "labels">;
}

/** The adapter of each provider in the table of providers. */
const ADAPTERS: { readonly [P in ProviderName]: (opening: Opening) => Promise<ProviderHost> } = {
  docker: ({ config: { instance, image, slots }, idleOrder: layerOrder, ...own }) =>
    openDockerHost({ instance, image, slots, layerOrder, ...own }),
  bubblewrap: ({ config: { instance, path }, newName }) => openBubblewrapHost({ instance, path, newName }),
  e2b: ({ config: { e2b, image }, idleOrder }) =>
    openE2bHost({ access: e2b, template: image ?? DEFAULT_TEMPLATE }, idleOrder()),
  microsandbox: ({ config: { instance, path, home, image }, newName, idleOrder }) =>
    openMicrosandboxHost({ instance, path, home, image, newName }, idleOrder()),
};

/** Throws ANT_SANDBOX_PROVIDER when the provider may not be used in this mode. */
export function refuseProvider({ provider, mode }: Pick<SandboxConfig, "provider" | "mode">): void {
  const why = refusalOf(provider, mode);
  if (why !== null) throw new AntiphonError("ANT_SANDBOX_PROVIDER", why); // sandbox-runner/S11
}

/** Rejects with a coded error while the provider or its image is missing. */
export async function openProviderHost(
  config: SandboxConfig,
  { node, owner }: Omit<RunnerIdentity, "instance">,
  { log, journal }: { readonly log: Logger; readonly journal: Pick<Journal, "read"> },
): Promise<ProviderHost> {
  refuseProvider(config);
  const { instance } = config;
  return ADAPTERS[config.provider]({
    config,
    owner,
    log,
    newName: () => containerName(instance, null, uniqueId()),
    isOver: async (attempt) => isOver(attempt, await journal.read(attempt.runId, ENDS), Date.now()),
    idleOrder: () => ({
      limits: defaultLimits(config.runtime),
      labels: containerLabels({ instance, node, owner }, null, Date.now()),
    }),
  });
}
