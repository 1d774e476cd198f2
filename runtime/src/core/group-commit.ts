/**
 * The policy of adaptive group commit: what a lane (one stream) commits next.
 *
 * With `sync_interval: always` each commit is one fsync. Few records: publish them singly at once, which is
 * the lowest latency. Many records queued behind a commit in flight: commit them as one atomic batch, which
 * is one fsync for all.
 *
 * Invariants:
 *   G1 At most `maxSingles` fresh single publishes or `maxBatches` batches are in flight in a lane.
 *   G2 A batch holds at least `batchFrom` and at most `batchMax` records.
 *   G3 If something is queued and nothing is in flight, the answer is never `wait`.
 */
export interface GroupCommitLimits {
  batchFrom: number;
  batchMax: number;
  /** A batch is cut before it exceeds this. */
  batchMaxBytes: number;
  maxSingles: number;
  maxBatches: number;
}

export interface LaneLoad {
  queued: number;
  singlesInFlight: number;
  batchesInFlight: number;
}

export type NextCommit =
  { kind: "wait" } | { kind: "singles"; count: number } | { kind: "batch"; count: number };

export const groupCommitDefaults: GroupCommitLimits = {
  batchFrom: 12,
  batchMax: 400,
  batchMaxBytes: 4 * 1024 * 1024,
  maxSingles: 12,
  maxBatches: 2,
};

export function nextCommit(load: LaneLoad, limits: GroupCommitLimits): NextCommit {
  if (load.queued === 0) return { kind: "wait" };
  if (load.queued >= limits.batchFrom) {
    return load.batchesInFlight < limits.maxBatches && load.singlesInFlight === 0
      ? { kind: "batch", count: Math.min(load.queued, limits.batchMax) }
      : { kind: "wait" };
  }
  // A short queue behind a batch waits for it: it may grow into the next batch.
  if (load.batchesInFlight > 0) return { kind: "wait" };
  const room = limits.maxSingles - load.singlesInFlight;
  return room > 0 ? { kind: "singles", count: Math.min(room, load.queued) } : { kind: "wait" };
}
