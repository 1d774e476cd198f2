import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  AntiphonError,
  limits,
  PROVIDER_NAMES,
  SANDBOX_PROVIDERS,
  type ProviderName,
} from "@antiphon/contracts";
import { isDigestReference } from "./images/image-allowlist.ts";
import { isProvider, type Mode } from "./providers/provider-rules.ts";

/** An attempt, the checks on its base beside it, and its verification soon after. */
const WARM = 3;

/**
 * The sandbox-runner's own configuration, beside the runtime's. Only this module of the package reads the environment.
 */
export interface SandboxConfig {
  /** ANTIPHON_MODE: production (default) or development; `antiphon dev` sets the latter. */
  readonly mode: Mode;
  /** ANTIPHON_SANDBOX_PROVIDER: one of the table of providers; default docker. */
  readonly provider: ProviderName;
  /**
   * ANTIPHON_INSTANCE: tells this deployment's containers apart on a shared engine. Default: derived from the state
   * directory.
   */
  readonly instance: string;
  /**
   * ANTIPHON_SANDBOX_IMAGE, else the image that setup built (image.json in the state directory), else null; for e2b a
   * template.
   */
  readonly image: string | null;
  /** ANTIPHON_SANDBOX_ALLOW: further images a request may name, comma separated: `sha256:...`, or `name@sha256:...`. */
  readonly allow: readonly string[];
  /** The images that `antiphon images allow` has allowed: images.json in the state directory. */
  readonly allowlistFile: string;
  /** ANTIPHON_SANDBOX_SLOTS: how many jobs run at once. */
  readonly slots: number;
  /** ANTIPHON_SANDBOX_WARM (3): most containers kept started and ready. Demand decides how many are. */
  readonly warm: number;
  /** ANTIPHON_SANDBOX_RUNTIME: runc, runsc or kata. */
  readonly runtime: string;
  /**
   * Access to an E2B service: E2B_API_KEY, and for a service of your own E2B_DOMAIN, or E2B_API_URL and E2B_SANDBOX_URL.
   * The names are those of its SDK.
   */
  readonly e2b: {
    readonly apiKey: string | null;
    readonly domain: string | null;
    readonly apiUrl: string | null;
    readonly sandboxUrl: string | null;
  };
  /** PATH: the directories to search for a provider's programs. */
  readonly path: string;
  /** HOME: the directory where microsandbox keeps its images and its records of machines. */
  readonly home: string;
  /**
   * ANTIPHON_RUNNER_KEY: PEM file of the Ed25519 key that signs outcomes; made if it does not exist. Default:
   * runner-key.pem in the state directory.
   */
  readonly keyFile: string;
  /**
   * ANTIPHON_TRUSTED_RUNNERS: the file of the runners that Directors trust. The first runner makes it; a runner whose key
   * is not in it does not start. Null: an operator takes care of it.
   */
  readonly trustedRunnersFile: string | null;
  /** ANTIPHON_SANDBOX_SWAP_MIB, in bytes: swap that a sandbox may take, by which its workspace is larger. Default 0. */
  readonly swapBytes: number;
  /** The directory of the base trees. */
  readonly treeDirectory: string;
  /** ANTIPHON_SANDBOX_TREE_BYTES: the largest size of that directory. */
  readonly treeBytes: number;
}

type Env = Readonly<Record<string, string | undefined>>;

const RUNTIMES = ["runc", "runsc", "kata"];
const MOST_SWAP_MIB = 65_536;
/** A tree of the largest size, and the one after it. */
const DEFAULT_TREE_BYTES = 2 * limits.treeBytes;

export function readSandboxConfig(env: Env = process.env): SandboxConfig {
  const stateDirectory = resolve(text(env, "ANTIPHON_STATE_DIR") ?? ".antiphon");
  const runtime = text(env, "ANTIPHON_SANDBOX_RUNTIME") ?? "runc";
  if (!RUNTIMES.includes(runtime))
    throw invalid("ANTIPHON_SANDBOX_RUNTIME", runtime, `one of ${RUNTIMES.join(", ")}`);
  const instance = text(env, "ANTIPHON_INSTANCE") ?? instanceOf(stateDirectory);
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(instance)) {
    throw invalid("ANTIPHON_INSTANCE", instance, "a name of letters, digits, dots and dashes");
  }
  const provider = text(env, "ANTIPHON_SANDBOX_PROVIDER") ?? "docker";
  if (!isProvider(provider))
    throw invalid("ANTIPHON_SANDBOX_PROVIDER", provider, `one of ${PROVIDER_NAMES.join(", ")}`);
  const mode = text(env, "ANTIPHON_MODE") ?? "production";
  if (mode !== "production" && mode !== "development")
    throw invalid("ANTIPHON_MODE", mode, "production or development");
  return {
    mode,
    provider,
    instance,
    image: imageOf(provider, env, stateDirectory),
    allow: allowedImages(env),
    allowlistFile: join(stateDirectory, "images.json"),
    slots: integer(env, "ANTIPHON_SANDBOX_SLOTS", 1, 256) ?? limits.sandboxSlots,
    warm: integer(env, "ANTIPHON_SANDBOX_WARM", 0, 64) ?? WARM,
    runtime,
    e2b: {
      apiKey: text(env, "E2B_API_KEY"),
      domain: text(env, "E2B_DOMAIN"),
      apiUrl: text(env, "E2B_API_URL"),
      sandboxUrl: text(env, "E2B_SANDBOX_URL"),
    },
    path: text(env, "PATH") ?? "/usr/local/bin:/usr/bin:/bin",
    home: text(env, "HOME") ?? "/",
    keyFile: text(env, "ANTIPHON_RUNNER_KEY") ?? join(stateDirectory, "runner-key.pem"),
    trustedRunnersFile: text(env, "ANTIPHON_TRUSTED_RUNNERS"),
    swapBytes: (integer(env, "ANTIPHON_SANDBOX_SWAP_MIB", 0, MOST_SWAP_MIB) ?? 0) * 1024 * 1024,
    treeDirectory: join(stateDirectory, "trees"),
    treeBytes: integer(env, "ANTIPHON_SANDBOX_TREE_BYTES", 0, Number.MAX_SAFE_INTEGER) ?? DEFAULT_TREE_BYTES,
  };
}

/** The name of the default image for a provider. */
function imageOf(provider: ProviderName, env: Env, stateDirectory: string): string | null {
  const { imageFrom, image } = SANDBOX_PROVIDERS[provider];
  if (imageFrom === "own") return image;
  const named = text(env, "ANTIPHON_SANDBOX_IMAGE");
  return named ?? (imageFrom === "built" ? builtImage(join(stateDirectory, "image.json")) : image);
}

/** Accepts digests only, because a name alone could be moved to another image. */
function allowedImages(env: Env): readonly string[] {
  const names = (text(env, "ANTIPHON_SANDBOX_ALLOW") ?? "").split(",").filter((name) => name !== "");
  for (const name of names) {
    if (!isDigestReference(name))
      throw invalid(
        "ANTIPHON_SANDBOX_ALLOW",
        name,
        "an image id (sha256:...) or a name with its digest (name@sha256:...)",
      );
  }
  return names;
}

/** Derived from the directory: two checkouts on one machine are two instances, and a restarted one stays the same. */
function instanceOf(stateDirectory: string): string {
  return `ant-${createHash("sha256").update(stateDirectory).digest("hex").slice(0, 10)}`;
}

function builtImage(path: string): string | null {
  let document: string;
  try {
    document = readFileSync(path, "utf8");
  } catch {
    return null; // setup has not run: the service reports ANT_SANDBOX_IMAGE_MISSING
  }
  const { id } = JSON.parse(document) as { id?: string };
  return id ?? null;
}

function text(env: Env, name: string): string | null {
  const value = env[name];
  return value === undefined || value === "" ? null : value;
}

function integer(env: Env, name: string, min: number, max: number): number | null {
  const value = text(env, name);
  if (value === null) return null;
  const number = Number(value);
  if (!Number.isInteger(number) || number < min || number > max) {
    throw invalid(name, value, `a whole number from ${min} to ${max}`);
  }
  return number;
}

function invalid(name: string, value: string, wanted: string): AntiphonError {
  return new AntiphonError("ANT_CONFIG_INVALID", `${name}=${JSON.stringify(value)} is not ${wanted}`, {
    data: { variable: name },
  });
}
