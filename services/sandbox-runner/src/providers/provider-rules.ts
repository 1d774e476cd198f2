/**
 * The providers of sandboxes, and the modes in which each may be used.
 *
 * Promises:
 *   sandbox-runner/S11 Because namespaces alone over the host's files do not contain hostile code, and the kernel
 *     counts some resources by user, a sandbox in production is a container or a virtual machine with a user of its
 *     own, and no provider runs commands on the host itself.
 */
import { SANDBOX_PROVIDERS, type ProviderName } from "@antiphon/contracts";

export type Mode = "production" | "development";

export function isProvider(name: string): name is ProviderName {
  return Object.hasOwn(SANDBOX_PROVIDERS, name);
}

/** The reason why a provider may not be used in this mode, or null. */
export function refusalOf(name: ProviderName, mode: Mode): string | null {
  const { inProduction, what } = SANDBOX_PROVIDERS[name];
  if (mode === "development" || inProduction) return null; // sandbox-runner/S11
  return `${name} is ${what}, which is for development only`;
}
