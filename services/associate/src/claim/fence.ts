/**
 * Self-fencing: an Associate that cannot prove that it still holds its claim must stop before another one starts.
 *
 * A claim lives as long as the server receives heartbeats. An answer from the server proves that the heartbeats sent before
 * the request have arrived, so the proof dates from the moment when the request was *sent*. When the newest proof is older
 * than the ack wait, the dispatch may have been delivered to another Associate.
 */
export interface Fence {
  readonly ackWaitMs: number;
  /** Monotonic time at which the request of the newest proof was sent. */
  readonly provenAtMs: number;
}

/** Keeps the newer proof, since answers may arrive in any order. */
export function proven(fence: Fence, sentAtMs: number): Fence {
  return sentAtMs > fence.provenAtMs ? { ...fence, provenAtMs: sentAtMs } : fence;
}

export function isLost(fence: Fence, nowMs: number): boolean {
  return nowMs - fence.provenAtMs > fence.ackWaitMs;
}
