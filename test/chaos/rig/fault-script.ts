/**
 * The faults and their times: a list made from a seed before the start. Antiphon and the naive twin get the same script. Pure.
 */
import { STRIKES, type Strike } from "./broker.ts";
import { ENGINE_LOSSES, type EngineLoss } from "./engine-way.ts";
import { pointsOf, type CrashPoint } from "./crash-point-list.ts";
import { roleOf } from "./process-name.ts";
import { seeded, type Random } from "./random.ts";

export const FAULT_KINDS = [
  "kill",
  "stop",
  "nats",
  "partition",
  "disk",
  "engine",
  "power",
  "points",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  readonly atMs: number;
  readonly kind: FaultKind;
  /** The name of the process; faults of the server have none. */
  readonly target: string | null;
  /** Its duration; 0: it is over at once. */
  readonly forMs: number;
  /** Where the process ends itself, for `points`. */
  readonly point: CrashPoint | null;
  /** Which servers of a cluster, for `nats`. */
  readonly strike: Strike | null;
  /** How the engine becomes unreachable, for `engine`. */
  readonly loss: EngineLoss | null;
  /** The seed for the part of unsynced data that survives a power cut; null: none survives. */
  readonly seed: number | null;
}

export interface FaultPlan {
  readonly seed: number;
  /** The time the faults are spread over. */
  readonly spanMs: number;
  readonly counts: Readonly<Partial<Record<FaultKind, number>>>;
  /** Names of the processes, `<role>` or `<role>-<n>`. */
  readonly processes: readonly string[];
  /** Those that can be cut off from the server. */
  readonly partitionable: readonly string[];
}

/** Longer than any lease, so that a stopped holder comes back as a zombie. */
const STOP_MS = [9_500, 12_000] as const;
const PARTITION_MS = [3_000, 12_000] as const;
const NATS_DOWN_MS = [50, 1_500] as const;
const DISK_FULL_MS = [4_000, 6_000] as const;
/** Some are shorter, some longer than an attempt waits for the engine. */
const ENGINE_AWAY_MS = [1_000, 45_000] as const;
const DARK_MS = [100, 1_000] as const;

export function faultScript(plan: FaultPlan): Fault[] {
  const random = seeded(plan.seed);
  const faults = FAULT_KINDS.flatMap((kind) =>
    Array.from({ length: plan.counts[kind] ?? 0 }, (_, i) => fault(kind, i, plan, random)),
  );
  return faults.toSorted((a, b) => a.atMs - b.atMs);
}

function fault(kind: FaultKind, index: number, plan: FaultPlan, random: Random): Fault {
  const atMs = Math.round(plan.spanMs * random.next());
  const plain = { atMs, kind, target: null, forMs: 0, point: null, strike: null, loss: null, seed: null };
  switch (kind) {
    case "kill":
      return { ...plain, target: random.pick(plan.processes) };
    case "stop":
      return { ...plain, target: random.pick(stoppable(plan)), forMs: between(random, STOP_MS) };
    case "partition":
      return { ...plain, target: random.pick(plan.partitionable), forMs: between(random, PARTITION_MS) };
    case "nats":
      return { ...plain, forMs: between(random, NATS_DOWN_MS), strike: random.pick(STRIKES) };
    case "disk":
      return { ...plain, forMs: between(random, DISK_FULL_MS) };
    case "engine":
      return { ...plain, forMs: between(random, ENGINE_AWAY_MS), loss: random.pick(ENGINE_LOSSES) };
    case "power":
      return {
        ...plain,
        forMs: between(random, DARK_MS),
        seed: index % 2 === 0 ? null : random.below(2 ** 31),
      };
    case "points": {
      const points = pointsOf(plan.processes);
      const point = points[pointAt(index, plan.counts.points ?? 0, points.length)];
      if (point === undefined) throw new Error("no process has a crash point");
      const ofRole = plan.processes.filter((name) => roleOf(name) === point.role);
      return { ...plain, target: random.pick(ofRole), point };
    }
  }
}

/** The places of `count` points among `all`: one round after the other, or a part of one that is spread over every role. */
function pointAt(index: number, count: number, all: number): number {
  return count < all ? Math.floor((index * all) / count) : index % all;
}

/** A stopped gateway is only slow; the others hold leases. */
function stoppable(plan: FaultPlan): string[] {
  return plan.processes.filter((name) => roleOf(name) !== "gateway");
}

function between(random: Random, [from, to]: readonly [number, number]): number {
  return from + random.below(to - from);
}
