import type { Msg } from "@nats-io/nats-core";
import { CommitLane } from "./commit-lane.ts";
import type { GroupCommitLimits } from "./group-commit.ts";
import { groupCommitDefaults } from "./group-commit.ts";
import type { PublishResult } from "./publish-result.ts";
import type { Deadlines } from "../process/deadlines.ts";

/**
 * Publisher: the one way a process writes to JetStream.
 *
 * Every message belongs to a lane (its stream). A lane commits singly or in atomic batches
 * (publishing/group-commit.ts). All acknowledgements come back through the connection's one reply inbox; there is
 * no timer, no stack trace and no subscription per message.
 *
 * Lifecycle: open -> closed. While the connection is down nothing is sent; what was in flight has become
 * unknown and is sent again, under the same subject and expectation, when the connection is back.
 *
 * Invariants:
 *   P1 A publish settles exactly once, with ok, failed or unknown; after close nothing stays pending.
 *   P2 Unknown is retried as the very same message until its signal aborts or the publisher closes; only
 *      a `once` message is told `unknown` after its first attempt.
 *   P3 Queued plus in-flight messages and bytes are bounded; beyond the bound `publish` waits its turn.
 *   P4 A refused or unknown batch is sent again as single messages; its members never fail together.
 *   P5 A message whose expectation is about a wildcard shares no batch with another one of its scope: the server
 *      decides each against what is stored, not against what stands before it in the batch.
 */
export interface Outgoing {
  stream: string;
  subject: string;
  payload: Uint8Array;
  headers: Readonly<Record<string, string>>;
  /** 0: the subject must be empty (J3). Absent: no expectation. */
  expectLastSubjectSequence?: number;
  /** What the expectation is about where that is not the subject itself: a wildcard. */
  expectedSubject?: string;
  /** Names all messages that such a wildcard may be about, this one among them: a run's id. */
  scope?: string;
  /** May share an atomic batch. Needs an expectation or an id, because it may be sent again. */
  group: boolean;
  /** One attempt, no retry: the caller has its own way to deal with `unknown`. */
  once?: boolean;
}

export interface PublisherLimits {
  group: GroupCommitLimits;
  /** Queued and in-flight messages over all lanes. At the bound `publish` waits. */
  maxPending: number;
  maxPendingBytes: number;
  /** No acknowledgement within this time makes an attempt unknown. */
  ackTimeoutMs: number;
}

export const publisherDefaults: PublisherLimits = {
  group: groupCommitDefaults,
  maxPending: 8192,
  maxPendingBytes: 32 * 1024 * 1024,
  ackTimeoutMs: 5000,
};

/** What a lane needs from its surroundings. */
export interface LanePort {
  send(
    subject: string,
    payload: Uint8Array,
    headers: Readonly<Record<string, string>>,
    reply: string | null,
  ): void;
  expect(waiter: (message: Msg) => void): string;
  replySubject(token: string): string;
  forget(token: string): void;
  deadlines: Deadlines;
  connected(): boolean;
  /** For the log: a message that has trouble getting through. */
  note(out: Outgoing, what: string): void;
  limits: PublisherLimits;
}

export interface PublisherStats {
  pending: number;
  pendingBytes: number;
  singles: number;
  batches: number;
  batched: number;
  retried: number;
}

interface Waiter {
  bytes: number;
  settle: (granted: boolean) => void;
}

export class Publisher {
  private readonly lanes = new Map<string, CommitLane>();
  private readonly port: LanePort;
  private readonly waiters: Waiter[] = [];
  private pending = 0;
  private pendingBytes = 0;
  private closedReason: string | null = null;

  constructor(port: LanePort) {
    this.port = port;
  }

  /** Resolves when the message is stored, refused, or (see P2) its fate stays unknown. Never rejects. */
  async publish(out: Outgoing, signal?: AbortSignal): Promise<PublishResult> {
    const bytes = out.payload.length + out.subject.length;
    if (this.closedReason !== null) return { kind: "unknown", reason: this.closedReason };
    if (signal?.aborted) return { kind: "unknown", reason: "aborted" };
    if (this.waiters.length === 0 && this.fits(bytes)) this.reserve(bytes);
    else if (!(await this.turn(bytes, signal))) {
      return { kind: "unknown", reason: this.closedReason ?? "aborted" }; // P3: never sent
    }
    try {
      return await this.lane(out.stream).submit(out, signal);
    } finally {
      this.pending -= 1;
      this.pendingBytes -= bytes;
      this.admit();
    }
  }

  /** The connection is back: everything that was in flight is sent again. */
  resume(): void {
    for (const lane of this.lanes.values()) lane.resume();
  }

  /** The connection is gone: in-flight attempts are unknown from now on. */
  suspend(): void {
    for (const lane of this.lanes.values()) lane.suspend("connection lost");
  }

  close(): void {
    if (this.closedReason !== null) return;
    this.closedReason = "publisher closed";
    for (const lane of this.lanes.values()) lane.close(this.closedReason); // P1
    for (const waiter of this.waiters.splice(0)) waiter.settle(false);
  }

  stats(): PublisherStats {
    const sum = { singles: 0, batches: 0, batched: 0, retried: 0 };
    for (const lane of this.lanes.values()) {
      sum.singles += lane.stats.singles;
      sum.batches += lane.stats.batches;
      sum.batched += lane.stats.batched;
      sum.retried += lane.stats.retried;
    }
    return { pending: this.pending, pendingBytes: this.pendingBytes, ...sum };
  }

  private lane(stream: string): CommitLane {
    let lane = this.lanes.get(stream);
    if (lane === undefined) {
      lane = new CommitLane(this.port);
      this.lanes.set(stream, lane);
    }
    return lane;
  }

  private fits(bytes: number): boolean {
    const { maxPending, maxPendingBytes } = this.port.limits;
    if (this.pending === 0) return true; // one oversized message may pass alone
    return this.pending < maxPending && this.pendingBytes + bytes <= maxPendingBytes;
  }

  private reserve(bytes: number): void {
    this.pending += 1;
    this.pendingBytes += bytes;
  }

  /** Waits in line; true: the room is reserved for the caller. */
  private turn(bytes: number, signal?: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        bytes,
        settle: (granted) => {
          signal?.removeEventListener("abort", leave);
          resolve(granted);
        },
      };
      const leave = (): void => {
        const index = this.waiters.indexOf(waiter);
        if (index < 0) return;
        this.waiters.splice(index, 1);
        waiter.settle(false);
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.waiters.push(waiter);
    });
  }

  private admit(): void {
    for (let first = this.waiters[0]; first !== undefined; first = this.waiters[0]) {
      if (!this.fits(first.bytes)) return;
      this.reserve(first.bytes);
      this.waiters.shift();
      first.settle(true);
    }
  }
}
