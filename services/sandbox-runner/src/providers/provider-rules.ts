/**
 * The providers of sandboxes, and where each may be used.
 *
 * Invariants:
 *   Y6  In production a sandbox is a container or a virtual machine of its own. What shares the host's file system
 *        with nothing but namespaces in between is for development, and nothing runs commands on the host itself.
 */
import type { SandboxOutcome } from "@antiphon/contracts";

export type ProviderName = SandboxOutcome["meta"]["provider"];

/** The one image of bubblewrap: this host's own programs. */
export const HOST_IMAGE = "host";

/** What e2b makes machines of when nothing else is said: the service's own Debian. */
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

/** Why a provider may not be used in this mode, or null (Y6). */
export function refusalOf(name: ProviderName, mode: Mode): string | null {
  const rule = RULES[name];
  if (mode === "development" || rule.inProduction) return null;
  return `${name} is ${rule.what}, which is for development only`;
}
