import { AntiphonError, limits, misspelt } from "@antiphon/contracts";
import type { OtlpPlace } from "../tracing/otlp-sink.ts";
import type { Deployment } from "../topology/deployment.ts";

/** The settings every service needs at start. Only this module of runtime/ reads the environment. */
export interface RuntimeConfig {
  /** ANTIPHON_NATS_URL: one URL or several, comma separated. */
  natsUrl: string;
  /**
   * ANTIPHON_NATS_CA: PEM file with the authorities that sign the certificates of the NATS servers. With it, or with a `tls:`
   * URL, a connection without TLS is refused.
   */
  natsCa: string | null;
  /** ANTIPHON_NATS_MONITOR: monitoring endpoint(s), to learn the sync mode if the server does not tell it over NATS. */
  natsMonitorUrl: string | null;
  /** ANTIPHON_NATS_TOKEN: one token for all services, each of which may then do everything. */
  natsToken: string | null;
  /**
   * ANTIPHON_NATS_CREDS: the seed of this service's NATS user from `antiphon nats bootstrap`, or the path of a file that
   * holds it. With it, the token is not used.
   */
  natsCreds: string | null;
  /** ANTIPHON_TRUSTED_KEYS: JWK set file with the public keys of the Directors whose decisions are believed. */
  trustedKeysFile: string | null;
  /** ANTIPHON_UNSAFE_TRUST=1: believe every decision without checking signatures. For tests. */
  unsafeTrust: boolean;
  /** ANTIPHON_UNSAFE_DURABILITY=1: accept a server that acknowledges before it fsyncs. */
  unsafeDurability: boolean;
  /** ANTIPHON_LOG_LEVEL */
  logLevel: string;
  /** ANTIPHON_METRICS_PORT: serve /metrics for Prometheus; null: no endpoint. */
  metricsPort: number | null;
  /** ANTIPHON_METRICS_HOST: the address of that endpoint, default 127.0.0.1. It asks for no token. */
  metricsHost: string;
  /**
   * OTEL_EXPORTER_OTLP_ENDPOINT: the collector that traces go to; null: no traces. OTEL_EXPORTER_OTLP_HEADERS: `name=value`
   * pairs, comma separated, for its access token.
   */
  traces: OtlpPlace | null;
  /** ANTIPHON_DRAIN_MS: time a stopping service has to finish the work it holds. */
  drainMs: number;
  /**
   * ANTIPHON_JOURNAL_PARTITIONS, ANTIPHON_REPLICAS and ANTIPHON_PROBED_LEASES (`on`, `off`). A missing setting is adopted
   * from the server; on an empty server the numbers are one, and the leases are not probed.
   */
  deployment: Partial<Deployment>;
}

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"];

export function readRuntimeConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): RuntimeConfig {
  refuseMisspelt(env);
  return {
    natsUrl: urls(env, "ANTIPHON_NATS_URL", ["nats:", "tls:", "ws:", "wss:"]) ?? "nats://127.0.0.1:4222",
    natsCa: env["ANTIPHON_NATS_CA"] || null,
    natsMonitorUrl: urls(env, "ANTIPHON_NATS_MONITOR", ["http:", "https:"]),
    natsToken: env["ANTIPHON_NATS_TOKEN"] || null,
    natsCreds: env["ANTIPHON_NATS_CREDS"] || null,
    trustedKeysFile: env["ANTIPHON_TRUSTED_KEYS"] || null,
    unsafeTrust: flag(env, "ANTIPHON_UNSAFE_TRUST"),
    unsafeDurability: flag(env, "ANTIPHON_UNSAFE_DURABILITY"),
    logLevel: oneOf(env, "ANTIPHON_LOG_LEVEL", logLevels) ?? "info",
    metricsPort: integer(env, "ANTIPHON_METRICS_PORT", 0, 65_535),
    metricsHost: address(env, "ANTIPHON_METRICS_HOST") ?? "127.0.0.1",
    traces: tracesOf(env),
    drainMs: integer(env, "ANTIPHON_DRAIN_MS", 0, 600_000) ?? 25_000,
    deployment: deploymentOf(env),
  };
}

/** A misspelt ANTIPHON_ROLES would give everybody all roles. */
function refuseMisspelt(env: Env): void {
  const wrong = misspelt(Object.keys(env));
  if (wrong === null) return;
  throw new AntiphonError("ANT_CONFIG_INVALID", `${wrong.name} is no setting; ${wrong.meant} is`, {
    data: { variable: wrong.name },
  });
}

function deploymentOf(env: Env): Partial<Deployment> {
  const partitions = integer(env, "ANTIPHON_JOURNAL_PARTITIONS", 1, limits.journalPartitions);
  const replicas = integer(env, "ANTIPHON_REPLICAS", 1, 5);
  const leases = oneOf(env, "ANTIPHON_PROBED_LEASES", ["on", "off"]);
  return {
    ...(partitions === null ? {} : { partitions }),
    ...(replicas === null ? {} : { replicas }),
    ...(leases === null ? {} : { probedLeases: leases === "on" }),
  };
}

function tracesOf(env: Env): OtlpPlace | null {
  const endpoint = urls(env, "OTEL_EXPORTER_OTLP_ENDPOINT", ["http:", "https:"]);
  const pairs = (env["OTEL_EXPORTER_OTLP_HEADERS"] ?? "").split(",").filter((pair) => pair.trim() !== "");
  try {
    const headers = new Headers(pairs.map(headerOf));
    return endpoint === null ? null : { endpoint, headers: Object.fromEntries(headers) };
  } catch {
    throw new AntiphonError("ANT_CONFIG_INVALID", NO_PAIRS, { data: HEADERS_VARIABLE }); // the cause quotes the value
  }
}

/** `name=value`, with the value percent-encoded. */
function headerOf(pair: string): [string, string] {
  const [name = "", ...value] = pair.split("=");
  if (value.length === 0) throw new TypeError("no value");
  return [name.trim(), decodeURIComponent(value.join("=").trim())];
}

const HEADERS_VARIABLE = { variable: "OTEL_EXPORTER_OTLP_HEADERS" };
/** The value is not quoted: it holds a secret. */
const NO_PAIRS = "OTEL_EXPORTER_OTLP_HEADERS is not a list such as name=value,name=value";

type Env = Readonly<Record<string, string | undefined>>;

function invalid(name: string, value: string, wanted: string): AntiphonError {
  return new AntiphonError("ANT_CONFIG_INVALID", `${name}=${JSON.stringify(value)} is not ${wanted}`, {
    data: { variable: name },
  });
}

function urls(env: Env, name: string, protocols: readonly string[]): string | null {
  const value = env[name];
  if (value === undefined || value === "") return null;
  for (const part of value.split(",")) {
    if (!URL.canParse(part) || !protocols.includes(new URL(part).protocol)) {
      throw invalid(name, value, `a URL with ${protocols.join(" or ")}`);
    }
  }
  return value;
}

function address(env: Env, name: string): string | null {
  const value = env[name];
  if (value === undefined || value === "") return null;
  if (!/^[0-9.]{7,15}$|^[0-9a-f:]{2,39}$/i.test(value)) throw invalid(name, value, "an IP address");
  return value;
}

function flag(env: Env, name: string): boolean {
  const value = env[name] ?? "";
  if (value === "" || value === "0" || value === "false") return false;
  if (value === "1" || value === "true") return true;
  throw invalid(name, value, "1 or 0");
}

function oneOf(env: Env, name: string, allowed: readonly string[]): string | null {
  const value = env[name];
  if (value === undefined || value === "") return null;
  if (!allowed.includes(value)) throw invalid(name, value, `one of ${allowed.join(", ")}`);
  return value;
}

function integer(env: Env, name: string, min: number, max: number): number | null {
  const value = env[name];
  if (value === undefined || value === "") return null;
  const number = Number(value);
  if (!Number.isInteger(number) || number < min || number > max) {
    throw invalid(name, value, `a whole number from ${min} to ${max}`);
  }
  return number;
}
