// Finds a nats-server: first NATS_SERVER_BIN, then the one that setup installed in the state directory, then PATH.
import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { CliConfig } from "../config.ts";

export const MIN_NATS = [2, 15, 0] as const;

export type NatsBinary =
  | { kind: "found"; path: string; version: string }
  | { kind: "too_old"; path: string; version: string }
  | { kind: "missing" };

export function findNatsServer(config: CliConfig): NatsBinary {
  const onPath = config.path.split(delimiter).map((dir) => join(dir, "nats-server"));
  const candidates = [config.natsServerBin, join(config.stateDir, "tools/nats-server"), ...onPath];
  let old: NatsBinary | null = null;
  for (const path of candidates) {
    if (path === null || !isExecutable(path)) continue;
    const version = versionOf(path);
    if (version === null) continue;
    if (isEnough(version)) return { kind: "found", path, version };
    old ??= { kind: "too_old", path, version };
  }
  return old ?? { kind: "missing" };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function versionOf(path: string): string | null {
  try {
    const output = execFileSync(path, ["--version"], {
      encoding: "utf8",
      timeout: 5_000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    return /v(\d+\.\d+\.\d+\S*)/.exec(output)?.[1] ?? null;
  } catch {
    return null; // Not a nats-server, or not runnable here.
  }
}

export function isEnough(version: string): boolean {
  const parts = version.split(/[.-]/).slice(0, 3).map(Number);
  for (const [i, wanted] of MIN_NATS.entries()) {
    const have = parts[i] ?? 0;
    if (have !== wanted) return have > wanted;
  }
  return true;
}
