/** The runner's limits. A job may tighten them, never loosen them. */
import { limits, type SandboxLimits, type SandboxRequest } from "@antiphon/contracts";
import type { ContainerLimits } from "./ports.ts";
import type { CollectBounds } from "./workspace/collected.ts";

/** Most output of one command, both streams together, before it is stopped. Far less than this is kept. */
export const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** Enough for the largest allowed tree and for the files that a build makes of it. */
const WORKSPACE_INODES = 400_000;
const TMP_INODES = 100_000;
/** The tar also contains directories and unchanged files. */
export const MAX_COLLECT_ENTRIES = WORKSPACE_INODES;

export function defaultLimits(runtime: string): ContainerLimits {
  return {
    memoryBytes: limits.sandboxMemoryBytes,
    cpus: limits.sandboxCpus,
    pids: limits.sandboxProcesses,
    workspaceBytes: limits.sandboxWorkspaceBytes,
    workspaceInodes: WORKSPACE_INODES,
    tmpBytes: limits.sandboxTmpBytes,
    tmpInodes: TMP_INODES,
    runtime,
  };
}

export interface JobLimits {
  readonly container: ContainerLimits;
  readonly keepBytes: number;
}

/** The limits that apply, or the name of the requested limit that is looser than the runner's. */
export function jobLimits(
  defaults: ContainerLimits,
  asked: SandboxLimits | undefined,
): { readonly ok: true; readonly limits: JobLimits } | { readonly ok: false; readonly looser: string } {
  const pairs = [
    ["memoryBytes", defaults.memoryBytes],
    ["cpus", defaults.cpus],
    ["pids", defaults.pids],
    ["workspaceBytes", defaults.workspaceBytes],
    ["outputBytes", limits.outputKeptBytes],
  ] as const;
  for (const [name, most] of pairs) {
    if ((asked?.[name] ?? most) > most) return { ok: false, looser: `${name} over ${most}` };
  }
  return {
    ok: true,
    limits: {
      container: {
        ...defaults,
        memoryBytes: asked?.memoryBytes ?? defaults.memoryBytes,
        cpus: asked?.cpus ?? defaults.cpus,
        pids: asked?.pids ?? defaults.pids,
        workspaceBytes: asked?.workspaceBytes ?? defaults.workspaceBytes,
      },
      keepBytes: asked?.outputBytes ?? limits.outputKeptBytes,
    },
  };
}

export function collectBounds(): CollectBounds {
  return {
    maxEntries: MAX_COLLECT_ENTRIES,
    maxFiles: limits.sandboxFiles,
    maxBytes: limits.sandboxFileBytes,
  };
}

/** True for jobs that decide a verdict: code under test must not be able to forge their result. */
export function needsSeal(purpose: SandboxRequest["purpose"]): boolean {
  return purpose !== "attempt";
}
