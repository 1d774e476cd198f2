/** The trees and layers on this machine's disk and the environments in the store, with what keeps each of them small. */
import { dirname, join } from "node:path";
import { AntiphonError, BUCKETS, limits } from "@antiphon/contracts";
import {
  allDone,
  openBlobs,
  openKv,
  removeUnfinishedUntil,
  systemClock,
  type Bus,
  type Logger,
  type ServiceContext,
} from "@antiphon/runtime";
import type { SandboxConfig } from "../config.ts";
import { TreeArchive } from "../workspace/tree-archive.ts";
import { removeSurplusUntil } from "./environment-upkeep.ts";
import { KEPT_LAYER_BYTES, LayerArchive } from "./layer-archive.ts";

const SWEEP_MS = 3_600_000;

function openTrees(bus: Bus, { treeDirectory, treeBytes }: SandboxConfig): TreeArchive {
  const repos = openBlobs(bus, BUCKETS.repos);
  const stream = (name: string): AsyncIterable<Buffer> =>
    repos.stream(name, { deadlineMs: limits.treeTransferMs });
  return new TreeArchive(treeDirectory, { stream }, treeBytes);
}

/** The trees and layers on this machine's disk. */
export function openCaches(
  { bus, log, signal }: ServiceContext,
  config: SandboxConfig,
): { trees: TreeArchive; layers: LayerArchive } {
  const trees = openTrees(bus, config);
  const layers = new LayerArchive(
    join(dirname(config.treeDirectory), "environments"),
    openBlobs(bus, BUCKETS.layers, { mayPurge: true }),
    KEPT_LAYER_BYTES,
  );
  void sweepUntil([trees, layers], log, signal);
  return { trees, layers };
}

/** Removes files that killed processes left on the disk, at start and every hour, also while no tree arrives. */
async function sweepUntil(
  caches: readonly Pick<TreeArchive, "sweep">[],
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const cache of caches)
      await cache.sweep().catch((error: unknown) => log.warn({ err: error }, "cache not swept"));
    await systemClock.sleep(SWEEP_MS, signal);
  }
}

/** Removes environments that nobody needs any more, and what was stored of them by halves, until the signal aborts. */
export async function tendEnvironments(bus: Bus, log: Logger, signal: AbortSignal): Promise<void> {
  const unfinished = removeUnfinishedUntil({ bus, bucket: BUCKETS.layers, clock: systemClock, log }, signal);
  const surplus = removeSurplusUntil(
    {
      records: openKv(bus, BUCKETS.environments),
      layers: openBlobs(bus, BUCKETS.layers, { mayPurge: true }),
      clock: systemClock,
      onRemoved: (environment) => log.info(environment, "environment removed"),
      onFailure: (error) =>
        log.warn({ ...AntiphonError.from(error).toJSON() }, "old environments are not removed"),
    },
    signal,
  );
  await allDone([unfinished, surplus]);
}
