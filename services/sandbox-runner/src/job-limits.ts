/** The runner's limits. A job may tighten them; it may loosen only its memory, up to a limit of its own. */
import { AntiphonError, limits, type SandboxRequest } from "@antiphon/contracts";
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
    swapBytes: 0,
    cpus: limits.sandboxCpus,
    pids: limits.sandboxProcesses,
    workspaceBytes: limits.sandboxWorkspaceBytes,
    workspaceInodes: WORKSPACE_INODES,
    tmpBytes: limits.sandboxTmpBytes,
    tmpInodes: TMP_INODES,
    runtime,
  };
}

/** Of a service's container: less memory than a sandbox, because a job may have several. Only runc shares a loopback. */
export function serviceLimits(): ContainerLimits {
  return {
    ...defaultLimits("runc"),
    memoryBytes: limits.serviceMemoryBytes,
    workspaceBytes: limits.serviceFileBytes,
    tmpBytes: limits.serviceFileBytes,
  };
}

export interface JobLimits {
  readonly container: ContainerLimits;
  readonly keepBytes: number;
}

/** The limits that apply. Throws where the request is looser than the runner. */
export function jobLimits(
  defaults: ContainerLimits,
  { limits: asked, budgetMs }: Pick<SandboxRequest, "limits" | "budgetMs">,
): JobLimits {
  const pairs = [
    ["memoryBytes", Math.max(defaults.memoryBytes, limits.sandboxMemoryMostBytes)],
    ["cpus", defaults.cpus],
    ["pids", defaults.pids],
    ["workspaceBytes", defaults.workspaceBytes],
    ["outputBytes", limits.outputKeptBytes],
  ] as const;
  for (const [name, most] of pairs) {
    if ((asked?.[name] ?? most) > most)
      throw refused(`a limit is looser than the runner allows: ${name} over ${most}`);
  }
  if (budgetMs > limits.taskTimeBudgetMaxS * 1000) throw refused("the budget is more than a day");
  const { outputBytes, ...container } = asked ?? {};
  return {
    container: { ...defaults, ...container },
    keepBytes: outputBytes ?? limits.outputKeptBytes,
  };
}

function refused(why: string): AntiphonError {
  return new AntiphonError("ANT_SANDBOX_REFUSED", why);
}

export function collectBounds(): CollectBounds {
  return {
    maxEntries: MAX_COLLECT_ENTRIES,
    maxFiles: limits.sandboxFiles,
    maxBytes: limits.sandboxFileBytes,
  };
}
