// Which providers of sandboxes work here, for the doctor. Each is asked itself; what is missing is `off`, not a fault,
// unless it is the provider that was chosen.
import { execFile } from "node:child_process";
import { accessSync, constants, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CliConfig } from "./config.ts";

/** Those that can be chosen. */
export const PROVIDERS = ["docker", "bubblewrap"] as const;

export interface ProviderState {
  readonly name: (typeof PROVIDERS)[number] | "e2b" | "microsandbox";
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
  return [await bubblewrap(config), notInThisBuild("e2b", "npm package e2b"), microsandbox()];
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

/** Named by the contracts, without an adapter here yet: choosing one is refused, and the doctor says so. */
function notInThisBuild(name: "e2b" | "microsandbox", detail: string): ProviderState {
  return { name, missing: "this build has no adapter for it", detail, remedy: "use docker" };
}

function microsandbox(): ProviderState {
  const virtual = process.arch !== "x64" || /\b(vmx|svm)\b/.test(readOr("/proc/cpuinfo"));
  const boots = virtual && canUse("/dev/kvm");
  return notInThisBuild(
    "microsandbox",
    boots ? "a virtual machine could boot here" : "no virtual machine can boot here",
  );
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
