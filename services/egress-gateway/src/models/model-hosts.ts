/** Hosts of models, from the entries of the configuration and from the providers that are shipped. */
import { PROVIDER_KEYS, type EgressConfig } from "@antiphon/contracts";
import { invalid, namedHost, type Env } from "../settings/config-file.ts";
import { credentialOf, SHORTEST_SECRET } from "../settings/credential-entry.ts";
import type { Credential } from "../policy/credentials.ts";
import type { Target } from "../policy/target.ts";
import type { ModelShape } from "./endpoint.ts";
import { KNOWN_PROVIDERS } from "./known-models.ts";
import type { ModelPrice, Rates } from "./pricing.ts";

export type ModelEntry = NonNullable<EgressConfig["models"]>[number];

export interface ModelHost {
  readonly shape: ModelShape;
  /** Where its calls go instead of to the host itself; null: to the host. */
  readonly upstream: Pick<Target, "scheme" | "host" | "port"> | null;
  /** The path of the upstream's base URL, without a slash at its end; null: as the client writes it. */
  readonly base: string | null;
  readonly prices: Readonly<Record<string, ModelPrice>>;
  /** Why its calls cannot be made, if the key that they need is missing. */
  readonly noKey: string | null;
  /** Its entry comes with Antiphon and not from the configuration. */
  readonly isShipped: boolean;
}

/** @throws AntiphonError ANT_CONFIG_INVALID */
export function modelHost({ host, shape, prices, base_url }: ModelEntry): [string, ModelHost] {
  return [
    namedHost(host),
    { shape, ...upstreamOf(host, base_url), prices: pricesOf(shape, prices), noKey: null, isShipped: false },
  ];
}

/** The well-known providers that the configuration does not name, with the keys of the environment. */
export function knownProviders(
  configured: ReadonlyMap<string, ModelHost>,
  credentials: readonly { readonly host: string | null }[],
  env: Env,
): { readonly models: readonly [string, ModelHost][]; readonly credentials: readonly Credential[] } {
  const models: [string, ModelHost][] = [];
  const keys: Credential[] = [];
  for (const { host, shape, credential, prices } of KNOWN_PROVIDERS) {
    // A key goes to the provider only, not to a server that the configuration puts in its place.
    if (configured.get(host)?.upstream != null) continue;
    const names = PROVIDER_KEYS[host];
    const isOurs = credentials.every((one) => one.host !== host);
    const name = names.find((variable) => (env[variable] ?? "").trim().length >= SHORTEST_SECRET);
    if (isOurs && name !== undefined) keys.push(credentialOf({ host, ...credential, env: name }, env));
    if (configured.has(host)) continue;
    const noKey = isOurs && name === undefined ? `${names.join(" or ")} is not set` : null;
    models.push([
      host,
      { shape, upstream: null, base: null, prices: pricesOf(shape, prices), noKey, isShipped: true },
    ]);
  }
  return { models, credentials: keys };
}

function pricesOf(shape: ModelShape, prices: ModelEntry["prices"]): ModelHost["prices"] {
  return Object.fromEntries(
    Object.entries(prices).map(([model, { long, ...price }]) => [
      model,
      {
        ...price,
        ...ratesOf(shape, price),
        ...(long === undefined ? {} : { long: { ...long, ...ratesOf(shape, long) } }),
      },
    ]),
  );
}

/** Prices that are not given are never below what a provider of this shape charges. */
function ratesOf(shape: ModelShape, given: Omit<ModelEntry["prices"][string], "max_output" | "long">): Rates {
  const cache_write = given.cache_write ?? (shape === "anthropic" ? 2 : 1) * given.input;
  const cache_read = given.cache_read ?? given.input;
  const cache_write_short = Math.min(cache_write, Math.ceil(1.25 * given.input));
  return { input: given.input, output: given.output, cache_read, cache_write, cache_write_short };
}

function upstreamOf(host: string, baseUrl: string | undefined): Pick<ModelHost, "upstream" | "base"> {
  if (baseUrl === undefined) return { upstream: null, base: null };
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  const scheme = { "http:": "http", "https:": "https" }[url?.protocol ?? ""] as "http" | "https" | undefined;
  if (url === null || scheme === undefined || url.username !== "" || url.search !== "" || url.hash !== "")
    throw invalid(
      `the base_url of ${host} must be an http or https URL without a user, a query or a fragment`,
    );
  const port = url.port === "" ? { http: 80, https: 443 }[scheme] : Number(url.port);
  const base = url.pathname.replace(/\/+$/, "");
  return { upstream: { scheme, host: url.hostname.replace(/^\[|\]$/g, ""), port }, base };
}
