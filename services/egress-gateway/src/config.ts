/** The settings of an egress gateway. Only this module reads the environment and the configuration file. */
import { rootCertificates } from "node:tls";
import { AntiphonError, PROVIDER_KEYS, type EgressConfig } from "@antiphon/contracts";
import { configFile, invalid, text, type ConfigFile, type Unusable } from "./config-file.ts";
import type { Credential } from "./policy/credentials.ts";
import { KNOWN_HOSTS } from "./policy/known-hosts.ts";
import type { ModelShape } from "./models/endpoint.ts";
import { parseAuthority, parseHostName } from "./policy/host-name.ts";
import type { Target } from "./policy/target.ts";
import { parseEntry, type HostKind, type HostRule } from "./policy/policy.ts";
import { KNOWN_PROVIDERS } from "./models/known-models.ts";
import type { ModelPrice, Rates } from "./models/pricing.ts";

type ModelEntry = NonNullable<EgressConfig["models"]>[number];
type CredentialEntry = NonNullable<EgressConfig["credentials"]>[number];

export interface ModelHost {
  readonly shape: ModelShape;
  /** Where its calls go instead of to the host itself; null: to the host. */
  readonly upstream: Pick<Target, "scheme" | "host" | "port"> | null;
  /** The path of the upstream's base URL, without a slash at its end; null: as the client writes it. */
  readonly base: string | null;
  readonly prices: Readonly<Record<string, ModelPrice>>;
  /** Why its calls cannot be made, if the key that they need is missing. */
  readonly noKey: string | null;
  /** Its entry is not one of the configuration. */
  readonly isShipped: boolean;
}

export interface EgressSettings {
  /** ANTIPHON_EGRESS_LISTEN: the address on which sandboxes' listeners are opened. Default 127.0.0.1. */
  readonly listen: string;
  /** ANTIPHON_EGRESS_ADVERTISE: the address that runners connect to. Default: `listen`. */
  readonly advertise: string;
  /** ANTIPHON_EGRESS_PORTS, as `from-to`. Null means any free port. */
  readonly ports: { readonly from: number; readonly to: number } | null;
  /** Hosts with rules of their own, most specific first: models, tunnels, git, packages. */
  readonly known: readonly HostRule[];
  readonly models: ReadonlyMap<string, ModelHost>;
  readonly credentials: readonly Credential[];
  /** Certificate authorities, in PEM, that upstream servers are verified against. */
  readonly upstreamCa: readonly string[];
  /** The configuration file; null: none. */
  readonly file: string | null;
  /** Entries of the configuration that are not used. */
  readonly unusable: readonly Unusable[];
  /** Fixed addresses by `host:port`. These addresses may be private: they are not checked. */
  readonly overrides: ReadonlyMap<string, { readonly address: string; readonly port: number }>;
}

export type Env = Readonly<Record<string, string | undefined>>;

/** That of this process. */
export const environment = (): Env => process.env;

const NO_FILE: ConfigFile = { file: {}, unusable: [] };

export function readEgressConfig(env: Env = environment()): EgressSettings {
  const path = env["ANTIPHON_EGRESS_CONFIG"] ?? "";
  const { file, unusable } = path === "" ? NO_FILE : configFile(path);
  const listen = env["ANTIPHON_EGRESS_LISTEN"] || "127.0.0.1";
  const configured = each("models", file.models ?? [], modelHost);
  const own = each("credentials", file.credentials ?? [], (entry) => credentialOf(entry, env));
  const bad = [...unusable, ...configured.unusable, ...own.unusable];
  const known = knownProviders(new Map(configured.made), [...own.made, ...bad], env);
  const models = new Map(
    [...known.models, ...configured.made].map(([host, made]) => [
      host,
      { ...made, noKey: made.noKey ?? lostKey(host, bad) },
    ]),
  );
  return {
    listen,
    advertise: env["ANTIPHON_EGRESS_ADVERTISE"] || listen,
    ports: portRange(env["ANTIPHON_EGRESS_PORTS"] ?? ""),
    known: knownHosts(file, models, file.models ?? []),
    models,
    credentials: [...own.made, ...known.credentials],
    upstreamCa: [
      ...rootCertificates,
      ...(file.upstream_ca_file === undefined ? [] : [text(file.upstream_ca_file)]),
    ],
    file: path === "" ? null : path,
    unusable: bad,
    overrides: new Map(Object.entries(file.overrides ?? {}).map(override)),
  };
}

/** Reads the entries of a list one by one. An entry that cannot be used is named, and the start goes on without it. */
function each<E extends { readonly host: string }, T>(
  list: string,
  entries: readonly E[],
  make: (entry: E) => T,
): { readonly made: readonly T[]; readonly unusable: readonly Unusable[] } {
  const made: T[] = [];
  const unusable: Unusable[] = [];
  for (const entry of entries) {
    try {
      made.push(make(entry));
    } catch (error) {
      const reason = AntiphonError.from(error).detail;
      unusable.push({ entry: `${list}/${entry.host}`, host: entry.host.toLowerCase(), reason });
    }
  }
  return { made, unusable };
}

function modelHost({ host, shape, prices, base_url }: ModelEntry): [string, ModelHost] {
  return [
    named(host),
    { shape, ...upstreamOf(host, base_url), prices: pricesOf(shape, prices), noKey: null, isShipped: false },
  ];
}

/** The well-known providers that the configuration does not name, with the keys of the environment. */
function knownProviders(
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
    const name = names.find((variable) => (env[variable] ?? "").trim().length >= SHORTEST);
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

function lostKey(host: string, unusable: readonly Unusable[]): string | null {
  const lost = unusable.find((one) => one.host === host && one.entry.startsWith("credentials/"));
  return lost === undefined ? null : lost.reason;
}

function knownHosts(
  file: EgressConfig,
  usable: ReadonlyMap<string, ModelHost>,
  entries: readonly ModelEntry[],
): HostRule[] {
  const listed = (hosts: readonly string[] | undefined, kind: HostKind): readonly HostRule[] =>
    hosts === undefined
      ? KNOWN_HOSTS.filter((rule) => rule.kind === kind)
      : hosts.map((host) => ({ ...parseEntry(host), kind }));
  const models = [...usable.keys()].map((host): HostRule => ({
    host,
    kind: "model",
    ports: [entries.find((entry) => entry.host.toLowerCase() === host)?.port ?? 443],
    terminate: true,
  }));
  const tunnels = (file.tunnel_hosts ?? []).map((host): HostRule => ({
    ...parseEntry(host),
    ports: [443],
    terminate: false,
  }));
  return [...models, ...tunnels, ...listed(file.git_hosts, "git"), ...listed(file.package_hosts, "package")];
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

/** A shorter secret could not be told from other text. */
const SHORTEST = 8;

function credentialOf(entry: CredentialEntry, env: Env): Credential {
  const { user, header = "authorization", value = "Bearer ${secret}" } = entry;
  const host = named(entry.host);
  if ((entry.env === undefined) === (entry.file === undefined))
    throw invalid(`the credential of ${host} needs one of env and file`);
  const secret = (entry.env === undefined ? text(entry.file ?? "") : (env[entry.env] ?? "")).trim();
  if (secret.length < SHORTEST)
    throw invalid(`the secret of ${host} is missing, or too short to be told from other text`);
  const basic = user === undefined ? null : Buffer.from(`${user}:${secret}`).toString("base64");
  const full = basic === null ? value.replaceAll("${secret}", secret) : `Basic ${basic}`;
  if (!/^[\x21-\x7e][\x20-\x7e]*$/.test(full))
    throw invalid(`the secret of ${host} does not fit into a header`);
  const encoded = [
    Buffer.from(secret).toString("base64"),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ];
  return {
    host,
    header,
    value: full,
    secrets: [...new Set([secret, ...encoded, ...(basic === null ? [] : [basic])])],
  };
}

function override([from, to]: [string, string]): [string, { address: string; port: number }] {
  const { host, port } = parseAuthority(from, null);
  const at = to.lastIndexOf(":");
  return [`${host}:${port}`, { address: to.slice(0, at), port: Number(to.slice(at + 1)) }];
}

function portRange(range: string): EgressSettings["ports"] {
  if (range === "") return null;
  const [from = 0, to = 0] = (/^(\d{1,5})-(\d{1,5})$/.exec(range) ?? []).slice(1).map(Number);
  if (from < 1 || to < from || to > 65_535)
    throw invalid(`ANTIPHON_EGRESS_PORTS=${range} is not a range of ports`);
  return { from, to };
}

function named(host: string): string {
  try {
    return parseHostName(host);
  } catch (error) {
    throw invalid(error instanceof Error ? error.message : String(error));
  }
}
