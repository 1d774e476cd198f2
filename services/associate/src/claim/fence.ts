/**
 * Self-fencing: an Associate that cannot prove it still holds its claim must stop before somebody else starts.
 *
 * A claim lives as long as the server hears heartbeats. A request answered by the server proves that the
 * heartbeats sent before it arrived; the proof is as old as the moment the request was *sent*. When the newest
 * proof is older than the ack wait, the dispatch may have been delivered to another Associate.
 */
export interface Fence {
  readonly ackWaitMs: number;
  /** Monotonic time at which the request of the newest proof was sent. */
  readonly provenAtMs: number;
}

/** A proof never makes the fence older, whatever order answers arrive in. */
export function proven(fence: Fence, sentAtMs: number): Fence {
  return sentAtMs > fence.provenAtMs ? { ...fence, provenAtMs: sentAtMs } : fence;
}

export function isLost(fence: Fence, nowMs: number): boolean {
  return nowMs - fence.provenAtMs > fence.ackWaitMs;
}
