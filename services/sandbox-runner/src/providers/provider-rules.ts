/**
 * The providers of sandboxes, and the modes in which each may be used.
 *
 * Promises:
 *   sandbox-runner/S11 Because namespaces alone over the host's files do not contain hostile code, a sandbox in
 *     production is a container or a virtual machine of its own, and no provider runs commands on the host itself.
 */
import type { SandboxOutcome } from "@antiphon/contracts";

export type ProviderName = SandboxOutcome["meta"]["provider"];

/** The one image of bubblewrap: this host's own programs. */
export const HOST_IMAGE = "host";

/** The default template for e2b machines: the service's own Debian. */
export const DEFAULT_TEMPLATE = "base";

export type Mode = "production" | "development";

interface ProviderRule {
  readonly inProduction: boolean;
  readonly what: string;
}

const RULES: Readonly<Record<ProviderName, ProviderRule>> = {
  docker: { inProduction: true, what: "containers of a Docker engine" },
  bubblewrap: { inProduction: false, what: "namespaces over this host's own files" },
  e2b: { inProduction: true, what: "virtual machines of an E2B service" },
  microsandbox: { inProduction: true, what: "virtual machines on this host" },
};

export const PROVIDERS = Object.keys(RULES) as readonly ProviderName[];

export function isProvider(name: string): name is ProviderName {
  return Object.hasOwn(RULES, name);
}

/** The reason why a provider may not be used in this mode, or null. */
export function refusalOf(name: ProviderName, mode: Mode): string | null {
  const rule = RULES[name];
  if (mode === "development" || rule.inProduction) return null; // sandbox-runner/S11
  return `${name} is ${rule.what}, which is for development only`;
}
