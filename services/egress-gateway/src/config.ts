/** The settings of an egress gateway. Only this module reads the environment and the configuration file. */
import { readFileSync } from "node:fs";
import { rootCertificates } from "node:tls";
import { AntiphonError, validate, type EgressConfig } from "@antiphon/contracts";
import type { Credential } from "./policy/credentials.ts";
import { KNOWN_HOSTS } from "./policy/known-hosts.ts";
import type { ModelShape } from "./models/endpoint.ts";
import { parseAuthority, parseHostName } from "./policy/host-name.ts";
import type { Target } from "./policy/target.ts";
import { parseEntry, type HostKind, type HostRule } from "./policy/policy.ts";
import type { ModelPrice } from "./models/pricing.ts";

export interface ModelHost {
  readonly shape: ModelShape;
  /** Where its calls go instead of to the host itself; null: to the host. */
  readonly upstream: Pick<Target, "scheme" | "host" | "port"> | null;
  /** The path of the upstream's base URL, without a slash at its end; null: as the client writes it. */
  readonly base: string | null;
  readonly prices: Readonly<Record<string, ModelPrice>>;
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
  /** Fixed addresses by `host:port`. These addresses may be private: they are not checked. */
  readonly overrides: ReadonlyMap<string, { readonly address: string; readonly port: number }>;
}

type Env = Readonly<Record<string, string | undefined>>;

export function readEgressConfig(env: Env = process.env): EgressSettings {
  const path = env["ANTIPHON_EGRESS_CONFIG"] ?? "";
  const file = path === "" ? {} : configFile(path);
  const listen = env["ANTIPHON_EGRESS_LISTEN"] || "127.0.0.1";
  const models = file.models ?? [];
  return {
    listen,
    advertise: env["ANTIPHON_EGRESS_ADVERTISE"] || listen,
    ports: portRange(env["ANTIPHON_EGRESS_PORTS"] ?? ""),
    known: knownHosts(file),
    models: new Map(
      models.map(({ host, shape, prices, base_url }) => [
        named(host),
        { shape, ...upstreamOf(host, base_url), prices: pricesOf(shape, prices) },
      ]),
    ),
    credentials: (file.credentials ?? []).map((one) => credentialOf(one, env)),
    upstreamCa: [
      ...rootCertificates,
      ...(file.upstream_ca_file === undefined ? [] : [text(file.upstream_ca_file)]),
    ],
    overrides: new Map(Object.entries(file.overrides ?? {}).map(override)),
  };
}

function configFile(path: string): EgressConfig {
  let document: unknown;
  try {
    document = JSON.parse(text(path));
  } catch (error) {
    throw invalid(
      `ANTIPHON_EGRESS_CONFIG=${path}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const checked = validate("EgressConfig", document);
  if (checked.ok) return checked.value;
  const [first] = checked.errors;
  throw invalid(`${path}: ${first?.path ?? ""} ${first?.message ?? "is not a configuration"}`);
}

function knownHosts(file: EgressConfig): HostRule[] {
  const listed = (hosts: readonly string[] | undefined, kind: HostKind): readonly HostRule[] =>
    hosts === undefined
      ? KNOWN_HOSTS.filter((rule) => rule.kind === kind)
      : hosts.map((host) => ({ ...parseEntry(host), kind }));
  const models = (file.models ?? []).map(({ host, port }): HostRule => ({
    host: named(host),
    kind: "model",
    ports: [port ?? 443],
    terminate: true,
  }));
  const tunnels = (file.tunnel_hosts ?? []).map((host): HostRule => ({
    ...parseEntry(host),
    ports: [443],
    terminate: false,
  }));
  return [...models, ...tunnels, ...listed(file.git_hosts, "git"), ...listed(file.package_hosts, "package")];
}

/** Prices that are not given are never below what a provider of this shape charges. */
function pricesOf(
  shape: ModelShape,
  prices: NonNullable<EgressConfig["models"]>[number]["prices"],
): ModelHost["prices"] {
  return Object.fromEntries(
    Object.entries(prices).map(([model, price]) => {
      const cache_write = price.cache_write ?? (shape === "anthropic" ? 2 : 1) * price.input;
      const cache_read = price.cache_read ?? price.input;
      const cache_write_short = Math.min(cache_write, Math.ceil(1.25 * price.input));
      return [model, { ...price, cache_read, cache_write, cache_write_short }];
    }),
  );
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

function credentialOf(entry: NonNullable<EgressConfig["credentials"]>[number], env: Env): Credential {
  const { user, header = "authorization", value = "Bearer ${secret}" } = entry;
  const host = named(entry.host);
  if ((entry.env === undefined) === (entry.file === undefined))
    throw invalid(`the credential of ${host} needs one of env and file`);
  const secret = (entry.env === undefined ? text(entry.file ?? "") : (env[entry.env] ?? "")).trim();
  if (secret.length < 8)
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

function text(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw invalid(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function invalid(detail: string): AntiphonError {
  return new AntiphonError("ANT_CONFIG_INVALID", detail);
}
