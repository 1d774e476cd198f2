// Checks which sandbox providers work on this machine, for the doctor. A missing one is `off`, which is not a fault,
// unless it is the chosen provider.
import { execFile } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ProviderName } from "@antiphon/contracts/settings/sandbox-providers";
import type { CliConfig } from "../config.ts";
import { http } from "../gateway/http-exchange.ts";

export interface ProviderState {
  readonly name: ProviderName;
  /** Null: it works. */
  readonly missing: string | null;
  readonly detail: string;
  readonly remedy: string;
}

/** The releases the adapter is written for (services/sandbox-runner/README.md). */
const MSB_LINE = "0.6.";
const MSB_VERSION = "0.6.18";
const TIMEOUT_MS = 5_000;
const TRIAL = [
  "--unshare-all",
  "--ro-bind",
  "/",
  "/",
  "--proc",
  "/proc",
  "--dev",
  "/dev",
  "--",
  "/bin/sh",
  "-c",
  ":",
];

export async function providerStates(config: CliConfig): Promise<ProviderState[]> {
  return Promise.all(Object.values(CHECKS).map((check) => check(config)));
}

/** Docker has checks of its own. */
const CHECKS: {
  readonly [P in Exclude<ProviderName, "docker">]: (config: CliConfig) => Promise<ProviderState>;
} = { bubblewrap, e2b, microsandbox };

async function bubblewrap(config: CliConfig): Promise<ProviderState> {
  const remedy = "Debian: apt-get install bubblewrap; unprivileged user namespaces must be allowed";
  const state = (missing: string | null, detail: string): ProviderState => ({
    ...{ name: "bubblewrap", missing, detail, remedy },
  });
  const program = find("bwrap", config.path);
  if (program === null) return state("not installed", "development only");
  const trial = await run(program, TRIAL);
  if (trial.failed) return state(`makes no sandbox here: ${trial.said}`, program);
  const { said } = await run(program, ["--version"]);
  return state(null, `${said} at ${program}; development only`);
}

/** Requests one entry of the service's list, as the sandbox-runner does before it takes a job. */
async function e2b(config: CliConfig): Promise<ProviderState> {
  const { apiKey, url } = config.e2b;
  const remedy = "set E2B_API_KEY where the sandbox-runner is; for a service of your own also E2B_DOMAIN";
  const state = (missing: string | null, detail: string): ProviderState => ({
    name: "e2b",
    missing,
    detail,
    remedy,
  });
  if (apiKey === null) return state("no key: E2B_API_KEY is not set", url);
  try {
    const { status } = await http.exchange(`${url}/v2/sandboxes?limit=1`, {
      method: "GET",
      headers: { "x-api-key": apiKey },
      timeoutMs: TIMEOUT_MS,
    });
    if (status === 200) return state(null, `${url} takes the key`);
    return state(status === 401 ? `${url} refuses the key` : `${url} answers ${status}`, url);
  } catch {
    return state(`${url} does not answer`, url);
  }
}

/** `msb doctor` reports whether a virtual machine can boot here. Without msb, this looks for the same obstacles. */
async function microsandbox(config: CliConfig): Promise<ProviderState> {
  const remedy = `install msb ${MSB_VERSION} (npm install --global microsandbox@${MSB_VERSION}) where KVM is`;
  const state = (missing: string | null, detail: string): ProviderState => ({
    ...{ name: "microsandbox", missing, detail, remedy },
  });
  const program = find("msb", config.path);
  if (program === null)
    return state(["msb is not installed", ...hostObstacles()].join("; "), "virtual machines on this host");
  const version = (await run(program, ["--version"])).said;
  if (!version.startsWith(`msb ${MSB_LINE}`)) return state(`${version} is not msb ${MSB_LINE}x`, program);
  const { failed, said } = await run(program, ["doctor"]);
  return failed ? state(said, program) : state(null, `${version} at ${program}`);
}

function hostObstacles(): string[] {
  const found: string[] = [];
  if (process.arch === "x64" && !/\b(vmx|svm)\b/.test(readOr("/proc/cpuinfo")))
    found.push("the CPU shows neither vmx nor svm");
  if (!canUse("/dev/kvm")) found.push("/dev/kvm cannot be used");
  return found;
}

function find(name: string, path: string): string | null {
  const found = path.split(":").find((directory) => directory !== "" && canRun(join(directory, name)));
  return found === undefined ? null : join(found, name);
}

function canRun(path: string): boolean {
  return canAccess(path, constants.X_OK);
}

function canUse(path: string): boolean {
  return canAccess(path, constants.R_OK | constants.W_OK);
}

function canAccess(path: string, how: number): boolean {
  try {
    accessSync(path, how);
    return true;
  } catch {
    return false; // Absent and forbidden count the same.
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // Not every system has it.
  }
}

function run(program: string, args: readonly string[]): Promise<{ failed: boolean; said: string }> {
  return new Promise((resolve) => {
    execFile(program, [...args], { timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      const lines = `${stdout}\n${stderr}`.split("\n").filter((line) => line.trim() !== "");
      const telling = lines.find((line) => /error|fail|denied|not permitted/i.test(line)) ?? lines[0];
      resolve({ failed: error !== null, said: (telling ?? error?.message ?? "").trim() });
    });
  });
}
