/** Chooses the provider of a runner. This is the one place that refuses a provider in production. */
import { AntiphonError } from "@antiphon/contracts";
import { uniqueId, type Journal, type Logger } from "@antiphon/runtime";
import { openBubblewrapHost } from "./bubblewrap/bubblewrap-provider.ts";
import { openDockerHost } from "./docker/docker-host.ts";
import { openE2bHost } from "./e2b/e2b-provider.ts";
import { openMicrosandboxHost } from "./microsandbox/microsandbox-provider.ts";
import type { SandboxConfig } from "../config.ts";
import { containerLabels, containerName, type RunnerIdentity } from "../reaper/container-labels.ts";
import { defaultLimits } from "../job-limits.ts";
import { DEFAULT_TEMPLATE, refusalOf } from "./provider-rules.ts";
import { ENDS, isOver, type AttemptName } from "../reaper/stale-epoch.ts";
import type { ProviderHost } from "../ports.ts";

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
  const { instance, image } = config;
  const layerOrder = () => ({
    limits: defaultLimits(config.runtime),
    labels: containerLabels({ instance, node, owner }, null, Date.now()),
  });
  const trial = layerOrder();
  const newName = (): string => containerName(instance, null, uniqueId());
  const over = async (attempt: AttemptName): Promise<boolean> =>
    isOver(attempt, await journal.read(attempt.runId, ENDS));
  switch (config.provider) {
    case "docker":
      return openDockerHost({ instance, owner, image, newName, layerOrder, isOver: over, log });
    case "bubblewrap":
      return openBubblewrapHost({ instance, path: config.path, newName });
    case "e2b":
      return openE2bHost({ access: config.e2b, template: image ?? DEFAULT_TEMPLATE }, trial);
    case "microsandbox":
      return openMicrosandboxHost({ instance, path: config.path, home: config.home, image, newName }, trial);
  }
}
