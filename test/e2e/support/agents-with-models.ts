/** What tests of real agents share: their packages from the registries, and a server on loopback behind the hosts of their models. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { registryAccess } from "../../support/package-registries.ts";
import type { Stack } from "./stack.ts";

/** The largest pack is 750 MB, which a busy machine takes minutes to download and store. */
export const INSTALL_MS = 600_000;

/** What the model says to an agent that edits by its words. */
export const EDIT = [
  "It subtracts.\n\nadd.js\n```\n<<<<<<< SEARCH",
  "module.exports = (a, b) => a - b;\n=======\nmodule.exports = (a, b) => a + b;",
  ">>>>>>> REPLACE\n```\n",
].join("\n");

export interface Ended<Code extends string = string> {
  readonly runId: string;
  readonly status: string;
  readonly code: Code | null;
  readonly message: string;
}

export interface ModelHost {
  readonly host: string;
  readonly shape: string;
  readonly base_url: string;
  readonly prices: object;
}

const HOSTS = {
  "api.anthropic.com": ["anthropic", "v1"],
  "api.openai.com": ["openai", "v1"],
  "generativelanguage.googleapis.com": ["gemini", "v1beta"],
} as const;

export type PackHost = keyof typeof HOSTS;

/** The server of a port as a host of the packs, or under another name. @param mostOutput tokens of an answer */
export function hostAt(port: number, like: PackHost, host: string = like, mostOutput = 32_000): ModelHost {
  const [shape, version] = HOSTS[like];
  const prices = { "*": { input: 3_000_000, output: 15_000_000, max_output: mostOutput } };
  return { host, shape, base_url: `http://127.0.0.1:${port}/${version}`, prices };
}

export function packHostsAt(port: number, mostOutput?: number): ModelHost[] {
  return (Object.keys(HOSTS) as PackHost[]).map((host) => hostAt(port, host, host, mostOutput));
}

/** The variables of a stack whose sandboxes reach the registries of npm and PyPI, and these models. */
export async function accessTo(
  models: readonly ModelHost[],
  directory: string,
): Promise<Record<string, string>> {
  const npm = execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8" }).trim();
  const env = await registryAccess(directory, [new URL(npm).hostname, "pypi.org", "files.pythonhosted.org"]);
  const file = env["ANTIPHON_EGRESS_CONFIG"] ?? "";
  const config = { ...(JSON.parse(readFileSync(file, "utf8")) as object), models };
  writeFileSync(file, JSON.stringify(config));
  return env;
}

/** A line of the egress gateway's log of an attempt. */
export interface LogLine {
  readonly rule: string;
  readonly decision: string;
  readonly model?: { readonly charged_tokens: number; readonly reserved_tokens: number };
}

/** The requests of the first attempt of a run's first task. */
export async function logOf(stack: Stack, runId: string): Promise<LogLine[]> {
  const log = await stack.antiphon(["evidence", "get", runId, "T-001", "1", "egress/requests.jsonl"]);
  return log.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LogLine);
}
