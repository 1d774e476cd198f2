// Which providers of sandboxes work here, for the doctor. Each is asked itself; what is missing is `off`, not a fault,
// unless it is the provider that was chosen.
import { execFile } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CliConfig } from "./config.ts";

export const PROVIDERS = ["docker", "bubblewrap", "e2b", "microsandbox"] as const;

export interface ProviderState {
  readonly name: (typeof PROVIDERS)[number];
  /** Null: it works. */
  readonly missing: string | null;
  readonly detail: string;
  readonly remedy: string;
}

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
  return [await bubblewrap(config), e2b(config), await microsandbox(config)];
}

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

function e2b(config: CliConfig): ProviderState {
  const remedy = "install the SDK beside Antiphon (npm install --no-save e2b), and set E2B_API_KEY";
  const place = ["node_modules", join(config.stateDir, "tools/e2b/node_modules")].find((one) =>
    existsSync(join(one, "e2b/package.json")),
  );
  const missing =
    place === undefined
      ? "the SDK is not installed"
      : config.e2bApiKey === null
        ? "E2B_API_KEY is not set"
        : null;
  return { name: "e2b", missing, detail: place ?? "npm package e2b", remedy };
}

async function microsandbox(config: CliConfig): Promise<ProviderState> {
  const remedy = "needs KVM on this host (msb doctor says more), Node 22, and the npm package microsandbox";
  const state = (missing: string | null, detail: string): ProviderState => ({
    ...{ name: "microsandbox", missing, detail, remedy },
  });
  const flags = /\b(vmx|svm)\b/.exec(readOr("/proc/cpuinfo"));
  if (process.platform === "linux" && process.arch === "x64" && flags === null)
    return state("no virtual machine can boot here: the CPU shows neither vmx nor svm", "/proc/cpuinfo");
  if (process.platform === "linux" && !canUse("/dev/kvm"))
    return state("no virtual machine can boot here: /dev/kvm is missing or not ours", "/dev/kvm");
  const program = find("msb", config.path);
  if (program === null) return state("msb is not installed", "npm package microsandbox");
  const doctor = await run(program, ["doctor"]);
  return doctor.failed ? state(`msb doctor: ${doctor.said}`, program) : state(null, program);
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
    return false; // not there, or not ours
  }
}

function readOr(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // a system without it
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
