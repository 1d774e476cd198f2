/**
 * The whole campaign, in legs: each is a campaign of its own, with its seed, its server or cluster and its verdict, so
 * that no history grows with the hours. Pure.
 */
import type { FaultPlan } from "./fault-script.ts";

export interface Leg {
  readonly seed: number;
  /** Members of the server's cluster. */
  readonly servers: number;
  readonly runs: number;
  readonly spanMs: number;
  readonly counts: FaultPlan["counts"];
}

/** The work of three hours. A run of the workload has 1.67 tasks, so 6,000 runs are 10,000 tasks. */
export const WHOLE = { runs: 6_000, kill: 300, stop: 300, nats: 300, partition: 200, disk: 20, rounds: 50 };

const LEGS = 20;
const SPAN_MS = 180_000;

/** `share` of the whole campaign, at least one leg; `points` is how many crash points there are. */
export function fullPlan(seed: number, share: number, points: number): Leg[] {
  const legs = Math.max(1, Math.round(LEGS * share));
  return Array.from({ length: legs }, (_, index) => {
    const single = index % 2 === 0;
    const part = (total: number): number => portion(total, index, LEGS);
    return {
      seed: seed + index,
      servers: single ? 1 : 3,
      runs: part(WHOLE.runs),
      spanMs: SPAN_MS,
      counts: {
        kill: part(WHOLE.kill),
        stop: part(WHOLE.stop),
        nats: part(WHOLE.nats),
        partition: part(WHOLE.partition),
        points: part(WHOLE.rounds) * points,
        // Each member of a cluster keeps a copy; the small file system is only for a single server.
        ...(single ? { disk: portion(WHOLE.disk, index / 2, LEGS / 2) } : {}),
      },
    };
  });
}

/** The share of one leg, such that all shares add up to the total. */
function portion(total: number, index: number, of: number): number {
  return Math.floor(((index + 1) * total) / of) - Math.floor((index * total) / of);
}
