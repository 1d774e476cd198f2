import type { Msg } from "@nats-io/nats-core";
import { CommitLane } from "./commit-lane.ts";
import type { GroupCommitLimits } from "./group-commit.ts";
import { groupCommitDefaults } from "./group-commit.ts";
import type { PublishResult } from "./publish-result.ts";
import type { Deadlines } from "../process/deadlines.ts";
import { onAbort } from "../process/abort-listeners.ts";
import type { HeaderLines } from "../nats/wire-headers.ts";

/**
 * Publisher: the one way a process writes to JetStream.
 *
 * Every message belongs to a lane (its stream), which commits singly or in atomic batches (group-commit.ts). All
 * acknowledgements come back through the connection's one reply inbox; no message has a timer, stack trace or
 * subscription of its own. Queued and in-flight messages and bytes are bounded; at the bound `publish` waits.
 *
 * Lifecycle: open -> closed. While the connection is down nothing is sent. Messages that were in flight are unknown and
 * are sent again when the connection is back.
 *
 * Because one stale member makes the server refuse a whole batch, members of a refused or unknown batch are sent again
 * singly; and a message with an expectation about its run shares no batch with others of that run, since the server checks
 * it against stored messages only (runtime/J2).
 *
 * Promises:
 *   runtime/J2 Because a lost acknowledgement leaves a message's fate unknown, the very same message is sent again,
 *     alone if its batch was refused, under the same subject and expectation until its fate is known; a publish settles
 *     exactly once, as `unknown` only if it was aborted, the publisher closed, or it allows a single attempt.
 */
export interface Outgoing {
  stream: string;
  subject: string;
  payload: Uint8Array;
  /** Written as text once, however often the message is sent. */
  headers: HeaderLines;
  /** 0: the subject must be empty. Absent: no expectation. */
  expectLastSubjectSequence?: number;
  /** The wildcard that the expectation is about, if it is not about the subject itself. */
  expectedSubject?: string;
  /** A name shared by all messages that such a wildcard may match, this one included: the run's id. */
  scope?: string;
  /** May share an atomic batch. Needs an expectation or an id, because it may be sent again. */
  group: boolean;
  /** One attempt, no retry: the caller handles `unknown` itself. */
  once?: boolean;
}

export interface PublisherLimits {
  group: GroupCommitLimits;
  /** Queued and in-flight messages over all lanes. At the bound `publish` waits. */
  maxPending: number;
  maxPendingBytes: number;
  /** An attempt is unknown if no acknowledgement arrives within this time. */
  ackTimeoutMs: number;
}

export const publisherDefaults: PublisherLimits = {
  group: groupCommitDefaults,
  maxPending: 8192,
  maxPendingBytes: 32 * 1024 * 1024,
  ackTimeoutMs: 5000,
};

/** The lane's dependencies. */
export interface LanePort {
  send(subject: string, payload: Uint8Array, headers: HeaderLines, reply: string | null): void;
  expect(waiter: (message: Msg) => void): string;
  replySubject(token: string): string;
  forget(token: string): void;
  deadlines: Deadlines;
  connected(): boolean;
  /** For the log: a message that is repeatedly not acknowledged. */
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

  /** Resolves when the message is stored or refused, or its fate stays unknown. Never rejects. */
  async publish(out: Outgoing, signal?: AbortSignal): Promise<PublishResult> {
    const bytes = out.payload.length + out.subject.length;
    if (this.closedReason !== null) return { kind: "unknown", reason: this.closedReason };
    if (signal?.aborted) return { kind: "unknown", reason: "aborted" };
    if (this.waiters.length === 0 && this.fits(bytes)) this.reserve(bytes);
    else if (!(await this.turn(bytes, signal))) {
      return { kind: "unknown", reason: this.closedReason ?? "aborted" };
    }
    try {
      return await this.lane(out.stream).submit(out, signal);
    } finally {
      this.pending -= 1;
      this.pendingBytes -= bytes;
      this.admit();
    }
  }

  /** The connection is back: all in-flight messages are sent again. */
  resume(): void {
    for (const lane of this.lanes.values()) lane.resume();
  }

  /** The connection is lost: in-flight attempts are now unknown. */
  suspend(): void {
    for (const lane of this.lanes.values()) lane.suspend();
  }

  close(): void {
    if (this.closedReason !== null) return;
    this.closedReason = "publisher closed";
    for (const lane of this.lanes.values()) lane.close(this.closedReason); // runtime/J2
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
    if (this.pending === 0) return true; // a single oversized message may pass alone
    return this.pending < maxPending && this.pendingBytes + bytes <= maxPendingBytes;
  }

  private reserve(bytes: number): void {
    this.pending += 1;
    this.pendingBytes += bytes;
  }

  /** Waits in line; true: room was reserved for the caller. */
  private turn(bytes: number, signal?: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        bytes,
        settle: (granted) => {
          stay?.();
          resolve(granted);
        },
      };
      const leave = (): void => {
        const index = this.waiters.indexOf(waiter);
        if (index < 0) return;
        this.waiters.splice(index, 1);
        waiter.settle(false);
      };
      const stay = signal === undefined ? null : onAbort(signal, leave);
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
