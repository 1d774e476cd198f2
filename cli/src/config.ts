// The only place in the CLI that reads the environment.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { limits } from "@antiphon/contracts/limits";
import { misspelt } from "@antiphon/contracts/settings/variables";
import { Failure } from "./failure.ts";

export const DEFAULT_GATEWAY = "http://127.0.0.1:3001";

export interface CliConfig {
  /** Default http://127.0.0.1:3001. Source: ANTIPHON_GATEWAY_URL. */
  readonly gatewayUrl: string;
  /** ANTIPHON_GATEWAY_URL names the gateway, so the services of this machine are neither looked for nor started. */
  readonly isGatewayNamed: boolean;
  /** Bearer token, for a gateway that is not on loopback. Source: ANTIPHON_TOKEN. */
  readonly token: string | null;
  /** Tools, the name of the sandbox image, the data of `antiphon dev`. Source: ANTIPHON_STATE_DIR; default: see below. */
  readonly stateDir: string;
  /** An explicit nats-server binary. Source: NATS_SERVER_BIN. */
  readonly natsServerBin: string | null;
  /** The container engine, for the doctor. Default unix:///var/run/docker.sock. Source: DOCKER_HOST. */
  readonly dockerHost: string;
  /** Source: ANTIPHON_SANDBOX_IMAGE. Null: the image that setup built. */
  readonly sandboxImage: string | null;
  /** Where sandboxes come from. Default docker. Source: ANTIPHON_SANDBOX_PROVIDER. */
  readonly sandboxProvider: string;
  /** The container runtime of the sandboxes, for the doctor. Default runc. Source: ANTIPHON_SANDBOX_RUNTIME. */
  readonly sandboxRuntime: string;
  /** ANTIPHON_SANDBOX_SWAP_MIB as the sandbox-runner reads it; what is no number counts as 0, and the runner refuses it. */
  readonly sandboxSwapMib: number;
  /** The E2B service, for the doctor. Sources: E2B_API_KEY, and E2B_API_URL or E2B_DOMAIN (default e2b.app). */
  readonly e2b: { readonly apiKey: string | null; readonly url: string };
  readonly path: string;
  /** Partitions of the journal that `antiphon dev` serves. Default 1. Source: ANTIPHON_JOURNAL_PARTITIONS. */
  readonly partitions: number;
  /** Thumbprints of the Director keys to trust, comma separated. Empty: every key the gateway trusts. Source: ANTIPHON_DIRECTOR_KEYS. */
  readonly directorKeys: readonly string[];
}

export function readConfig(root: string, env: NodeJS.ProcessEnv = process.env): CliConfig {
  refuseMisspelt(env);
  return {
    gatewayUrl: gatewayUrl(env.ANTIPHON_GATEWAY_URL || DEFAULT_GATEWAY),
    isGatewayNamed: Boolean(env.ANTIPHON_GATEWAY_URL),
    token: env.ANTIPHON_TOKEN || null,
    stateDir: stateDirectory(root, env),
    natsServerBin: env.NATS_SERVER_BIN || null,
    dockerHost: env.DOCKER_HOST || "unix:///var/run/docker.sock",
    sandboxImage: env.ANTIPHON_SANDBOX_IMAGE || null,
    sandboxProvider: env.ANTIPHON_SANDBOX_PROVIDER || "docker",
    sandboxRuntime: env.ANTIPHON_SANDBOX_RUNTIME || "runc",
    sandboxSwapMib: Number(env.ANTIPHON_SANDBOX_SWAP_MIB) || 0,
    e2b: {
      apiKey: env.E2B_API_KEY || null,
      url: env.E2B_API_URL || `https://api.${env.E2B_DOMAIN || "e2b.app"}`,
    },
    path: env.PATH ?? "",
    partitions: partitions(env.ANTIPHON_JOURNAL_PARTITIONS),
    directorKeys: (env.ANTIPHON_DIRECTOR_KEYS ?? "")
      .split(",")
      .map((kid) => kid.trim())
      .filter((kid) => kid !== ""),
  };
}

function refuseMisspelt(env: NodeJS.ProcessEnv): void {
  const wrong = misspelt(Object.keys(env));
  if (wrong === null) return;
  throw new Failure("ANT_CONFIG_INVALID", `${wrong.name} is no setting; ${wrong.meant} is`, {
    remedy: `Name it ${wrong.meant}, or unset it.`,
  });
}

/** True in a checkout, which holds the program that builds the bundle. */
export function isCheckout(root: string): boolean {
  return existsSync(join(root, "scripts/build.mjs"));
}

/**
 * A checkout keeps its state beside its sources. An installed package may be read-only, and is replaced by an upgrade, so
 * its state is in the user's own directory: $XDG_STATE_HOME/antiphon, or ~/.local/state/antiphon.
 */
function stateDirectory(root: string, env: NodeJS.ProcessEnv): string {
  if (env.ANTIPHON_STATE_DIR) return resolve(env.ANTIPHON_STATE_DIR);
  if (isCheckout(root)) return join(root, ".antiphon");
  // The specification says that a relative path is to be ignored.
  const states = env.XDG_STATE_HOME?.startsWith("/") ? env.XDG_STATE_HOME : join(homedir(), ".local/state");
  return join(states, "antiphon");
}

function gatewayUrl(text: string): string {
  if (URL.canParse(text) && /^https?:/.test(text)) return text.replace(/\/+$/, "");
  throw new Failure("ANT_CONFIG_INVALID", `ANTIPHON_GATEWAY_URL=${JSON.stringify(text)} is not an http URL`, {
    remedy:
      "Set it to http://<host>:<port>, such as http://127.0.0.1:3001, or unset it for the gateway of this machine.",
  });
}

function partitions(text = ""): number {
  const number = Number(text || "1");
  if (Number.isInteger(number) && number >= 1 && number <= limits.journalPartitions) return number;
  const wanted = `a whole number from 1 to ${limits.journalPartitions}`;
  throw new Failure(
    "ANT_CONFIG_INVALID",
    `ANTIPHON_JOURNAL_PARTITIONS=${JSON.stringify(text)} is not ${wanted}`,
  );
}

/** Colours always or never; null: where a stream is a terminal. Sources: NO_COLOR, FORCE_COLOR, TERM. */
export function colourWish(env: NodeJS.ProcessEnv = process.env): boolean | null {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== "") return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "" && env.FORCE_COLOR !== "0") return true;
  return env.TERM === "dumb" ? false : null;
}

/** The environment of a supervised child: ours, overridden by the addresses of this instance. */
export function childEnvironment(overrides: Record<string, string>): Record<string, string> {
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { ...Object.fromEntries(inherited), ...overrides };
}

/** Makes a service started here use this installation's state, regardless of the directory it is started from. */
export function shareStateDir(config: CliConfig): void {
  process.env.ANTIPHON_STATE_DIR = config.stateDir;
}

/** The header that carries the gateway's token, if there is one. */
export function authorization(token: string | null): Record<string, string> {
  return token === null ? {} : { authorization: `Bearer ${token}` };
}
