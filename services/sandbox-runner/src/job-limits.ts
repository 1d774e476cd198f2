/** The runner's bounds and what a job may do to them: tighten them, never loosen them. */
import { limits, type SandboxLimits, type SandboxRequest } from "@antiphon/contracts";
import type { ContainerLimits } from "./ports.ts";
import type { CollectBounds } from "./workspace/collected.ts";

/** What both streams of one command may produce together before it is stopped; what is kept is far less. */
export const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** A tree of the largest allowed kind, and room for what a build makes of it. */
const WORKSPACE_INODES = 400_000;
const TMP_INODES = 100_000;
/** The tar also carries directories and what is unchanged. */
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

/** The name of the limit that is looser than the runner's, or the limits that hold. */
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

/** A verdict may only be built on what the code under test cannot forge. */
export function needsSeal(purpose: SandboxRequest["purpose"]): boolean {
  return purpose !== "attempt";
}
