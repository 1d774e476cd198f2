/** The settings of an egress gateway. From the environment and the configuration file. */
import { rootCertificates } from "node:tls";
import { AntiphonError, type EgressConfig } from "@antiphon/contracts";
import {
  configFile,
  invalid,
  text,
  type ConfigFile,
  type Env,
  type Unusable,
} from "./settings/config-file.ts";
import { knownProviders, modelHost, type ModelEntry, type ModelHost } from "./models/model-hosts.ts";
import { credentialOf } from "./settings/credential-entry.ts";
import type { Credential } from "./policy/credentials.ts";
import { KNOWN_HOSTS } from "./policy/known-hosts.ts";
import { parseAuthority } from "./policy/host-name.ts";
import { proxyOf } from "./settings/proxy-entry.ts";
import type { UpstreamProxy } from "./proxy/upstream-proxy.ts";
import { parseEntry, type HostKind, type HostRule } from "./policy/policy.ts";

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
  /** The configuration cannot be used, so it is unknown what it allows: every host is refused, those of models with the reason. */
  readonly isClosed?: true;
  /** Fixed addresses by `host:port`. These addresses may be private: they are not checked. */
  readonly overrides: ReadonlyMap<string, { readonly address: string; readonly port: number }>;
  /** Hosts whose addresses may be private. */
  readonly privateHosts: readonly Pick<HostRule, "host" | "ports">[];
  /** The proxy through which everything else is reached; null: directly. */
  readonly proxy: UpstreamProxy | null;
}

/** The variables of this process. */
export const environment = (): Env => process.env;

const NO_FILE: ConfigFile = { file: {}, unusable: [] };

/**
 * Throws ANT_CONFIG_INVALID, unless ANTIPHON_EGRESS_BROKEN_CONFIG is `closed`: then a file that cannot be used closes the gateway
 * instead of keeping it, and all that depends on it, from its start.
 */
export function readEgressConfig(env: Env = environment()): EgressSettings {
  const path = env["ANTIPHON_EGRESS_CONFIG"] ?? "";
  if (path === "" || env["ANTIPHON_EGRESS_BROKEN_CONFIG"] !== "closed") return settingsFrom(path, env);
  try {
    return settingsFrom(path, env);
  } catch (error) {
    if (!isFault(error)) throw error;
    const open = settingsFrom("", env);
    const reason = AntiphonError.from(error).detail;
    const models = new Map([...open.models].map(([host, one]) => [host, { ...one, noKey: reason }]));
    return {
      ...{ ...open, models, credentials: [], file: path, isClosed: true },
      known: open.known.filter(({ kind }) => kind === "model"),
      unusable: [{ entry: "all of it", host: null, reason }],
    };
  }
}

const isFault = (error: unknown): boolean => AntiphonError.from(error).code === "ANT_CONFIG_INVALID";

function settingsFrom(path: string, env: Env): EgressSettings {
  const { file, unusable } = path === "" ? NO_FILE : configFile(path);
  const listen = env["ANTIPHON_EGRESS_LISTEN"] || "127.0.0.1";
  const configured = each("models", file.models ?? [], modelHost);
  const own = each("credentials", file.credentials ?? [], (entry) => credentialOf(entry, env));
  const authorities = extraAuthorities(env["NODE_EXTRA_CA_CERTS"] ?? "");
  const bad = [...unusable, ...configured.unusable, ...own.unusable, ...authorities.unusable];
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
      ...authorities.made,
      ...(file.upstream_ca_file === undefined ? [] : [text(file.upstream_ca_file)]),
    ],
    file: path === "" ? null : path,
    unusable: bad,
    overrides: new Map(Object.entries(file.overrides ?? {}).map(override)),
    privateHosts: (file.private_hosts ?? []).map(privateHost),
    proxy: file.upstream_proxy === undefined ? null : proxyOf(file.upstream_proxy, env),
  };
}

/**
 * The authorities that all programs of Node trust on this machine. Node itself adds them only to connections without a list of
 * their own, and goes on without a file that it cannot read.
 */
function extraAuthorities(path: string): {
  readonly made: readonly string[];
  readonly unusable: readonly Unusable[];
} {
  if (path === "") return { made: [], unusable: [] };
  try {
    return { made: [text(path)], unusable: [] };
  } catch (error) {
    const { detail: reason } = AntiphonError.from(error);
    return { made: [], unusable: [{ entry: "NODE_EXTRA_CA_CERTS", host: null, reason }] };
  }
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

/** A name of a local network (`.internal`, `.local`) is one that no sandbox may ask for, so it cannot be meant. */
function privateHost(entry: string): HostRule {
  try {
    return parseEntry(entry);
  } catch (error) {
    throw invalid(`private_hosts: ${AntiphonError.from(error).detail}`);
  }
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
