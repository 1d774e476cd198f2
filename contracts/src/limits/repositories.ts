/** Of repositories, patches and what is stored of them. */
import { KiB, MiB, type Limit } from "./limit.ts";

export const repositories = {
  patchFiles: [200, "files", "a change people can review", "ANT_PATCH_TOO_LARGE"],
  patchBytes: [8 * MiB, "bytes", "a change people can review", "ANT_PATCH_TOO_LARGE"],
  globAlternatives: [64, "alternatives", "the braces of one glob, written out", "ANT_INTENT_OPTIONS"],
  globCharacters: [
    16 * KiB,
    "characters",
    "the globs with wildcards of one list, with alternatives written out",
    "ANT_INTENT_OPTIONS",
  ],
  treeFiles: [200_000, "files", "a base tree", "ANT_REPO_TOO_LARGE"],
  treeBytes: [4096 * MiB, "bytes", "files of a base tree; three services keep it", "ANT_REPO_TOO_LARGE"],
  repoStoreBytes: [8192 * MiB, "bytes", "archives of commits in the object store", "the least wanted go"],
  repoKeepMs: [300_000, "milliseconds", "such an archive stays when it was wanted", "it may go"],
  treeHeldBytes: [64 * MiB, "bytes", "files of a base tree that is held in memory", "the tree is streamed"],
  treeTransferMs: [600_000, "milliseconds", "moving a base tree", "ANT_BLOB_DEADLINE, ANT_GIT_TIMEOUT"],
  linkedBytes: [
    256 * MiB,
    "bytes",
    "files of submodules and of Git LFS in a sandbox, whose workspace is memory-backed",
    "the rest stay empty directories and pointers; the run says which",
  ],
  historyCommits: [1000, "commits", "a run may ask for in its sandboxes", "ANT_INTENT_OPTIONS"],
  historyBytes: [
    64 * MiB,
    "bytes",
    "stored objects of the history in a sandbox, whose workspace is memory-backed",
    "8 commits, then 1; if that does not fit either, the sandbox has no repository",
  ],
  openChecks: [
    8,
    "checks",
    "checks without a run that one Director has open at a time, each with a sandbox and a patch in memory",
    "ANT_SANDBOX_BUSY",
  ],
  openDeeds: [
    32,
    "commands",
    "commands of sessions that one Director carries out at a time, each with a patch in memory",
    "ANT_SANDBOX_BUSY",
  ],
  refLockMs: [
    60_000,
    "milliseconds",
    "an older lock of a run's branch is left over from a power cut or a kill, and is removed",
    "ANT_LANDING_REF_LOCKED until then",
  ],
} as const satisfies Record<string, Limit>;
