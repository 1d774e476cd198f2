/**
 * The table of sandbox providers. The contracts' enums, the sandbox-runner's settings, `antiphon dev --sandbox` and the
 * doctor derive from it; the table of adapters and the doctor's table of checks must have the same keys, or they do not
 * compile.
 */
interface Provider {
  /** False: for development only. */
  readonly inProduction: boolean;
  readonly what: string;
  /**
   * The image of a sandbox. `built`: what the settings name, else what setup built. `own`: `image`, and no other.
   * `named`: what the settings name, else `image`; null: they must name one.
   */
  readonly imageFrom: "built" | "own" | "named";
  readonly image: string | null;
}

function provider(
  inProduction: boolean,
  what: string,
  imageFrom: Provider["imageFrom"],
  image: string | null = null,
): Provider {
  return { inProduction, what, imageFrom, image };
}

/** The one image of bubblewrap: this host's own programs. */
export const HOST_IMAGE = "host";

/** The default template for e2b machines: the service's own Debian. */
export const DEFAULT_TEMPLATE = "base";

export const SANDBOX_PROVIDERS = {
  docker: provider(true, "containers of a Docker engine", "built"),
  bubblewrap: provider(false, "namespaces over this host's own files", "own", HOST_IMAGE),
  e2b: provider(true, "virtual machines of an E2B service", "named", DEFAULT_TEMPLATE),
  // Its own store has no name that setup could know.
  microsandbox: provider(true, "virtual machines on this host", "named"),
};
export type ProviderName = keyof typeof SANDBOX_PROVIDERS;
export const PROVIDER_NAMES = Object.keys(SANDBOX_PROVIDERS) as ProviderName[];
