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

/**
 * An atomic batch costs the server some milliseconds whatever it holds (it is staged in files of its own before it is
 * committed), as much as a few dozen pipelined single publishes. From 12 on, 20 writers got 0.3 to 0.7 of what they
 * get with singles; from 32 on they get more than with 12; with hundreds of writers the
 * thresholds lie within each other's spread (docs/benchmarks/load.md, measured on a busy machine).
 */
export const groupCommitDefaults: GroupCommitLimits = {
  batchFrom: 32,
  batchMax: 400,
  batchMaxBytes: 4 * 1024 * 1024,
  maxSingles: 32,
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
