/** Waits for the provider and its image. */
import { setTimeout as sleep } from "node:timers/promises";
import { AntiphonError } from "@antiphon/contracts";
import { openJournal, type ServiceContext } from "@antiphon/runtime";
import type { SandboxConfig } from "../config.ts";
import type { ProviderHost } from "../ports.ts";
import type { RunnerIdentity } from "../reaper/container-labels.ts";
import { openProviderHost, refuseProvider } from "./provider-host.ts";

const RETRY_MS = 2_000;
/** Waiting seldom helps here, and each try may cost money or time. */
const REFUSALS: ReadonlySet<string> = new Set(["ANT_SANDBOX_PROVIDER", "ANT_SANDBOX_REFUSED"]);
const REFUSED_RETRY_MS = 30_000;

/** Takes as long as it takes, and logs what is missing with its remedy. */
export async function ready(
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
