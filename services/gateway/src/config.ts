// The only place in the gateway that reads the environment.
import { AntiphonError, isSharedPrincipal, limits } from "@antiphon/contracts";
import { isLoopback } from "./http/caller-guard.ts";
import { hooksOf } from "./hooks/hook-settings.ts";
import type { Hook } from "./hooks/hook-settings.ts";
import { directoryOf } from "./identity/directory-settings.ts";
import type { Directory } from "./identity/directory.ts";
import { oidcOf } from "./identity/oidc-settings.ts";
import type { OidcConfig } from "./identity/oidc-settings.ts";
import { noticeSettings } from "./notices/notice-settings.ts";
import type { NoticeSettings } from "./notices/notice-settings.ts";
import { adaptersOf } from "./sessions/adapter-settings.ts";
import type { SessionAdapters } from "./sessions/adapter-settings.ts";
import type { Person } from "./http/caller-guard.ts";

export interface GatewayConfig {
  /** ANTIPHON_LISTEN: host:port. Default 127.0.0.1:3001; port 0 picks a free one. */
  readonly host: string;
  readonly port: number;
  /** ANTIPHON_TOKEN: the bearer token callers must send. Needed to listen beyond loopback. */
  readonly token: string | null;
  /**
   * ANTIPHON_SESSION_KEY: a secret of the gateways alone, with which they sign session tokens; the same for all gateways of a
   * deployment. Null: a random one, so each gateway accepts only its own sessions, until it restarts.
   */
  readonly sessionKey: string | null;
  /** ANTIPHON_TOKENS: people with a token of their own, as `name:token`, comma separated. Needs ANTIPHON_TOKEN. */
  readonly people: readonly Person[];
  /** ANTIPHON_ROLES and ANTIPHON_TENANTS: `name=submitter+approver` and `name=tenant`, comma separated. */
  readonly directory: Directory;
  /** ANTIPHON_HOOKS: systems that pass on people's decisions, as `name:secret`, comma separated. */
  readonly hooks: readonly Hook[];
  /** ANTIPHON_OIDC_ISSUER and ANTIPHON_OIDC_AUDIENCE: the provider whose tokens identify people. Null: none. */
  readonly oidc: OidcConfig | null;
  /** ANTIPHON_GATEWAY_HOSTS: host names, besides loopback, that callers may use, comma separated. */
  readonly allowedHosts: readonly string[];
  /** ANTIPHON_OPEN_RUNS: how many runs may be open at the same time; above it 429. Default limits.openRuns. */
  readonly openRuns: number;
  /** ANTIPHON_STORE_DIR: directory of JetStream's store, if it is on this machine, as with `antiphon dev`. Null: elsewhere. */
  readonly storeDir: string | null;
  /**
   * ANTIPHON_DEVCONTAINER: how a run is handled whose devcontainer.json names an image that is not available here.
   * `fallback` (default): it uses the standard image and records why. `require`: it is refused.
   */
  readonly devcontainer: "fallback" | "require";
  /** ANTIPHON_BUILD_ADAPTER: how commands of sessions are carried out (sessions/adapter-settings.ts). */
  readonly adapters: SessionAdapters;
  /** ANTIPHON_AGENT_PACKS: folders with the agent packs that the page lists, separated by colons. Default: none. */
  readonly packFolders: readonly string[];
  /** ANTIPHON_NOTIFY_URL and more (notices/notice-settings.ts): a system that is told what waits for people. Null: none. */
  readonly notices: NoticeSettings | null;
  /** ANTIPHON_PAGE: the folder of a built page. Default: the one of the build that the gateway runs from. */
  readonly page: string | null;
}

type Env = Readonly<Record<string, string | undefined>>;

export function readGatewayConfig(env: Env = process.env): GatewayConfig {
  const listen = env.ANTIPHON_LISTEN || "127.0.0.1:3001";
  const parts = /^(\[[0-9a-f:]+\]|[^:]+):(\d{1,5})$/i.exec(listen);
  const port = Number(parts?.[2]);
  if (parts === null || port > 65_535) {
    throw new AntiphonError(
      "ANT_CONFIG_INVALID",
      `ANTIPHON_LISTEN=${JSON.stringify(listen)} is not host:port`,
    );
  }
  const host = (parts[1] ?? "").replace(/^\[|\]$/g, "");
  const token = tokenOf(env.ANTIPHON_TOKEN);
  if (token === null && !isLoopback(host)) {
    throw new AntiphonError("ANT_GATEWAY_UNSAFE_BIND", `will not listen on ${host} without a token`);
  }
  const allowedHosts = (env.ANTIPHON_GATEWAY_HOSTS ?? "").split(",").map((name) => name.trim().toLowerCase());
  const openRuns = openRunsOf(env.ANTIPHON_OPEN_RUNS);
  const people = peopleOf(env.ANTIPHON_TOKENS ?? "", token);
  const sessionKey = sessionKeyOf(env.ANTIPHON_SESSION_KEY, [token, ...people.map((one) => one.token)]);
  const devcontainer = devcontainerOf(env.ANTIPHON_DEVCONTAINER);
  const hosts = allowedHosts.filter((name) => name !== "");
  const page = env.ANTIPHON_PAGE || null;
  const directory = directoryOf(env, people);
  const oidc = oidcOf(env, token);
  const hooks = hooksOf(env.ANTIPHON_HOOKS ?? "", people);
  return {
    host,
    port,
    token,
    sessionKey,
    people,
    directory,
    oidc,
    hooks,
    allowedHosts: hosts,
    openRuns,
    storeDir: env.ANTIPHON_STORE_DIR || null,
    devcontainer,
    adapters: adaptersOf(env),
    notices: noticeSettings(env),
    packFolders: packFoldersOf(env.ANTIPHON_AGENT_PACKS),
    page,
  };
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** Error messages never repeat an entry, because it contains a token. */
function peopleOf(text: string, shared: string | null): Person[] {
  if (text.trim() === "") return [];
  const refuse = (detail: string): never => {
    throw new AntiphonError("ANT_CONFIG_INVALID", `ANTIPHON_TOKENS: ${detail}`, {
      data: { variable: "ANTIPHON_TOKENS" },
    });
  };
  if (shared === null) return refuse("it requires ANTIPHON_TOKEN");
  const people = text.split(",").map((entry, i) => {
    const [name = "", ...rest] = entry.trim().split(":");
    const token = rest.join(":");
    if (!NAME.test(name) || isSharedPrincipal(name) || token === "")
      return refuse(`entry ${i + 1} is not <name>:<token>, or its name is reserved`);
    return { name, token };
  });
  for (const { name, token } of people) requireLong(`the token of ${name} in ANTIPHON_TOKENS`, token);
  const tokens = new Set([shared, ...people.map(({ token }) => token)]);
  if (new Set(people.map(({ name }) => name)).size < people.length) return refuse("a name occurs twice");
  if (tokens.size <= people.length) return refuse("two tokens are equal, or one equals ANTIPHON_TOKEN");
  return people;
}

/** With this key anybody could make a session in any name, so it is a secret that no caller has. */
function sessionKeyOf(text: string | undefined, known: readonly (string | null)[]): string | null {
  if (text === undefined || text === "") return null;
  requireLong("ANTIPHON_SESSION_KEY", text);
  if (!known.includes(text)) return text;
  const detail = "ANTIPHON_SESSION_KEY equals a token that callers have";
  throw new AntiphonError("ANT_CONFIG_INVALID", detail, { data: { variable: "ANTIPHON_SESSION_KEY" } });
}

function tokenOf(text: string | undefined): string | null {
  if (text === undefined || text === "") return null;
  requireLong("ANTIPHON_TOKEN", text);
  return text;
}

function requireLong(name: string, token: string): void {
  if (token.length >= limits.tokenMinChars) return;
  const message = `${name} has ${token.length} characters; at least ${limits.tokenMinChars} are needed`;
  throw new AntiphonError("ANT_GATEWAY_TOKEN_WEAK", message);
}

function devcontainerOf(text: string | undefined): GatewayConfig["devcontainer"] {
  if (text === undefined || text === "" || text === "fallback") return "fallback";
  if (text === "require") return text;
  const detail = `ANTIPHON_DEVCONTAINER=${JSON.stringify(text)} is neither fallback nor require`;
  throw new AntiphonError("ANT_CONFIG_INVALID", detail, { data: { variable: "ANTIPHON_DEVCONTAINER" } });
}

function packFoldersOf(text: string | undefined): string[] {
  const folders = (text ?? "").split(":").filter((folder) => folder !== "");
  const stray = folders.find((folder) => !folder.startsWith("/"));
  if (stray === undefined) return folders;
  const detail = `ANTIPHON_AGENT_PACKS names ${JSON.stringify(stray)}, which is not an absolute path`;
  throw new AntiphonError("ANT_CONFIG_INVALID", detail, { data: { variable: "ANTIPHON_AGENT_PACKS" } });
}

function openRunsOf(text: string | undefined): number {
  if (text === undefined || text === "") return limits.openRuns;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 1_000_000) return value;
  const detail = `ANTIPHON_OPEN_RUNS=${JSON.stringify(text)} is not a whole number from 1 to 1000000`;
  throw new AntiphonError("ANT_CONFIG_INVALID", detail, { data: { variable: "ANTIPHON_OPEN_RUNS" } });
}
