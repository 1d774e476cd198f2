/** Runs many seeds on several threads: counts those without a finding, names the others, and measures the speed. */
import { rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { bundleWorker, type Mutation } from "./bundle.ts";
import { MISHAPS, type Mishap } from "./mishap.ts";
import type { SeedResult } from "./seed.ts";
import type { WorkOrder } from "./worker.ts";

export interface CampaignOptions {
  from: number;
  seeds: number;
  threads?: number;
  mutation?: Mutation;
  /** Stop at the first finding. */
  stopAtFinding?: boolean;
  onResult?: (result: SeedResult) => void;
}

export interface Campaign {
  seeds: number;
  runs: number;
  records: number;
  steps: number;
  virtualMs: number;
  mishaps: Record<Mishap, number>;
  wallMs: number;
  failed: SeedResult[];
}

/** A world is garbage when it is over, and most of it sooner: a large young generation saves most of the collector's work. */
const YOUNG = { maxYoungGenerationSizeMb: 64 };

export async function runCampaign(options: CampaignOptions): Promise<Campaign> {
  const file = await bundleWorker(options.mutation ?? null);
  const threads = Math.min(options.threads ?? availableParallelism(), options.seeds);
  const sum: Campaign = {
    seeds: 0,
    runs: 0,
    records: 0,
    steps: 0,
    virtualMs: 0,
    mishaps: Object.fromEntries(MISHAPS.map((kind) => [kind, 0])) as Record<Mishap, number>,
    wallMs: 0,
    failed: [],
  };
  const startedAt = performance.now();
  const workers: Worker[] = [];
  const take = (result: SeedResult): void => {
    sum.seeds += 1;
    sum.runs += result.runs;
    sum.records += result.records;
    sum.steps += result.steps;
    sum.virtualMs += result.virtualMs;
    for (const kind of MISHAPS) sum.mishaps[kind] += result.mishaps[kind] ?? 0;
    options.onResult?.(result);
    if (result.findings.length === 0) return;
    sum.failed.push(result);
    if (options.stopAtFinding === true) for (const worker of workers) void worker.terminate();
  };
  try {
    await Promise.all(
      Array.from({ length: threads }, (_, index) => {
        const count = Math.ceil((options.seeds - index) / threads);
        const order: WorkOrder = {
          from: options.from + index,
          count,
          step: threads,
          stopAtFinding: options.stopAtFinding === true,
        };
        const worker = new Worker(file, { workerData: order, resourceLimits: YOUNG });
        workers.push(worker);
        worker.on("message", take);
        return ended(worker);
      }),
    );
  } finally {
    rmSync(file, { force: true });
  }
  sum.wallMs = performance.now() - startedAt;
  sum.failed.sort((a, b) => a.seed - b.seed);
  return sum;
}

function ended(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once("error", reject);
    worker.once("exit", () => resolve());
  });
}

/** The command that replays one seed. */
export function replayCommand(seed: number): string {
  return `npx tsx test/simulation/main.ts --trace ${seed}`;
}
