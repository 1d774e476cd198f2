import type { Outgoing } from "./publisher.ts";

/**
 * The policy of adaptive group commit: which messages a lane (one stream) commits next.
 *
 * With `sync_interval: always` each commit is one fsync. A few records are published singly at once, which gives the
 * lowest latency. Many records queued behind a commit in flight are committed as one atomic batch, which is one fsync
 * for all. If something is queued and nothing is in flight, the answer is never `wait`.
 */
export interface GroupCommitLimits {
  batchFrom: number;
  batchMax: number;
  /** A batch ends before it exceeds this size. */
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
 * An atomic batch costs the server some milliseconds regardless of its size (it is staged in files of its own first),
 * as much as a few dozen pipelined single publishes. With batches from 12 records on, 20 writers reached 0.3 to 0.7 of
 * their throughput with singles; from 32 on they reach more than that. With hundreds of writers the difference between
 * the thresholds is within the spread of the measurements (docs/benchmarks/load.md, measured on a busy machine).
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
  // A short queue behind a batch waits for it, because it may grow into the next batch.
  if (load.batchesInFlight > 0) return { kind: "wait" };
  const room = limits.maxSingles - load.singlesInFlight;
  return room > 0 ? { kind: "singles", count: Math.min(room, load.queued) } : { kind: "wait" };
}

type Scoped = Pick<Outgoing, "scope" | "expectedSubject">;

/** The messages whose expectations do not concern each other (runtime/J2). The others are sent after them. */
export function unrelated<M extends { readonly out: Scoped }>(messages: readonly M[]): M[] {
  const scopes = new Set<string>();
  const watched = new Set<string>();
  return messages.filter(({ out: { scope, expectedSubject } }) => {
    if (scope === undefined) return true;
    const watches = expectedSubject !== undefined;
    if (watched.has(scope) || (watches && scopes.has(scope))) return false;
    scopes.add(scope);
    if (watches) watched.add(scope);
    return true;
  });
}
