import type { Msg } from "@nats-io/nats-core";
import { backoffMs } from "../process/backoff.ts";
import { nextCommit, unrelated } from "./group-commit.ts";
import { LaneQueue, type Entry } from "./lane-queue.ts";
import { batchPlace, publishHeaders } from "./publish-headers.ts";
import type { PublishResult } from "./publish-result.ts";
import { failed, parsePubAck } from "./publish-result.ts";
import type { Deadline } from "../process/deadlines.ts";
import { uniqueId } from "../process/ids.ts";
import { onAbort } from "../process/abort-listeners.ts";
import type { LanePort, Outgoing } from "./publisher.ts";

/**
 * CommitLane: the queue and the commits in flight of one stream.
 *
 * Lifecycle of an entry: queued -> in flight (single or batch) -> settled, or queued again after a retry delay if its
 * fate is unknown. It is always in exactly one of these places.
 *
 * After a failed attempt an entry is `alone`: it joins no batch again, so one entry cannot keep making its neighbours
 * fail. The members of a failed batch are sent singly all at once, which costs one round trip. An entry aborted before
 * sending is never sent, and its publisher is told. When a commit ends, its deadline and reply token are released.
 */
interface Commit {
  entries: Entry[];
  batch: boolean;
  token: string;
  deadline: Deadline;
}

const retryPolicy = { baseMs: 50, capMs: 2000 };

export class CommitLane {
  readonly stats = { singles: 0, batches: 0, batched: 0, retried: 0 };
  private readonly port: LanePort;
  /** The lane's unique name in batch ids; no other lane of any process has it. */
  private readonly name = uniqueId();
  private readonly queue: LaneQueue;
  private readonly commits = new Set<Commit>();
  private singlesInFlight = 0;
  private batchesInFlight = 0;
  private closed: string | null = null;
  private pumping = false;

  constructor(port: LanePort) {
    this.port = port;
    this.queue = new LaneQueue(port.deadlines);
  }

  submit(out: Outgoing, signal?: AbortSignal): Promise<PublishResult> {
    // A signal that was aborted earlier calls no listener.
    if (signal?.aborted === true) return Promise.resolve({ kind: "unknown", reason: "aborted" });
    return new Promise((resolve) => {
      const settled = (result: PublishResult): void => {
        stay();
        resolve(result);
      };
      const entry: Entry = {
        out,
        resolve: settled,
        attempts: 0,
        alone: !out.group || out.once === true,
        settled: false,
      };
      const abort = (): void => this.settle(entry, { kind: "unknown", reason: "aborted" });
      const stay = signal === undefined ? (): void => undefined : onAbort(signal, abort);
      if (this.closed !== null) return this.settle(entry, { kind: "unknown", reason: this.closed });
      this.queue.push(entry);
      this.schedulePump();
    });
  }

  suspend(reason = "connection lost"): void {
    for (const commit of [...this.commits]) this.finish(commit, { kind: "unknown", reason });
  }

  resume(): void {
    this.queue.hurry();
    this.schedulePump();
  }

  close(reason: string): void {
    this.closed = reason;
    this.suspend(reason);
    for (const entry of this.queue.clear()) this.settle(entry, { kind: "unknown", reason });
  }

  /** Runs one microtask later, so that a burst of submits in one tick is seen as one queue. */
  private schedulePump(): void {
    if (this.pumping) return;
    this.pumping = true;
    queueMicrotask(() => {
      this.pumping = false;
      this.pump();
    });
  }

  private pump(): void {
    while (this.closed === null && this.port.connected()) {
      const next = nextCommit(
        {
          queued: this.queue.length,
          singlesInFlight: this.singlesInFlight,
          batchesInFlight: this.batchesInFlight,
        },
        this.port.limits.group,
      );
      if (next.kind === "wait") return;
      const entries = this.queue.take(next.count, this.port.limits.group.batchMaxBytes);
      if (entries.length === 0) continue;
      const members = next.kind === "batch" ? unrelated(entries.filter(({ alone }) => !alone)) : [];
      const together = members.length >= this.port.limits.group.batchFrom;
      if (together) this.commitBatch(members);
      const committed = new Set(together ? members : []);
      for (const entry of entries) if (!committed.has(entry)) this.commitSingle(entry);
    }
  }

  private commitSingle(entry: Entry): void {
    this.stats.singles += 1;
    this.singlesInFlight += 1;
    const commit = this.begin([entry], false);
    const { subject, payload } = entry.out;
    const reply = this.port.replySubject(commit.token);
    this.transmit(commit, () => this.port.send(subject, payload, publishHeaders(entry.out), reply));
  }

  private commitBatch(entries: Entry[]): void {
    this.stats.batches += 1;
    this.stats.batched += entries.length;
    this.batchesInFlight += 1;
    const commit = this.begin(entries, true);
    const id = `${this.name}.${this.stats.batches}`;
    this.transmit(commit, () => {
      entries.forEach(({ out }, index) => {
        const isLast = index === entries.length - 1;
        const headers = publishHeaders(out, batchPlace(id, index + 1, isLast));
        this.port.send(
          out.subject,
          out.payload,
          headers,
          isLast ? this.port.replySubject(commit.token) : null,
        );
      });
    });
  }

  private begin(entries: Entry[], batch: boolean): Commit {
    for (const entry of entries) entry.attempts += 1;
    const commit: Commit = {
      entries,
      batch,
      token: this.port.expect((message: Msg) => this.finish(commit, parsePubAck(message.data))),
      deadline: this.port.deadlines.add(this.port.limits.ackTimeoutMs, () =>
        this.finish(commit, { kind: "unknown", reason: "no acknowledgement in time" }),
      ),
    };
    this.commits.add(commit);
    return commit;
  }

  /** The client library throws on a closed connection or an oversized payload; both must settle the entry. */
  private transmit(commit: Commit, send: () => void): void {
    try {
      send();
    } catch (error) {
      const result: PublishResult = this.port.connected()
        ? failed(0, String(error))
        : { kind: "unknown", reason: String(error) };
      queueMicrotask(() => this.finish(commit, result));
    }
  }

  private finish(commit: Commit, result: PublishResult): void {
    if (!this.commits.delete(commit)) return;
    this.port.forget(commit.token);
    this.port.deadlines.cancel(commit.deadline);
    if (commit.batch) this.batchesInFlight -= 1;
    else this.singlesInFlight -= 1;
    if (commit.batch && result.kind === "ok" && result.count === commit.entries.length) {
      // One acknowledgement for all: it carries the last sequence, and the members directly precede it.
      const first = result.seq - commit.entries.length + 1;
      commit.entries.forEach((entry, index) =>
        this.settle(entry, { kind: "ok", seq: first + index, count: 1 }),
      );
    } else if (commit.batch) {
      for (const entry of commit.entries) this.again(entry, 0); // runtime/J2
    } else {
      for (const entry of commit.entries) this.conclude(entry, result);
    }
    this.schedulePump();
  }

  private conclude(entry: Entry, result: PublishResult): void {
    const transient =
      result.kind === "unknown" ||
      (result.kind === "failed" && (result.refusal === "unavailable" || result.refusal === "contended"));
    if (!transient || entry.out.once === true) return this.settle(entry, result);
    this.again(entry, backoffMs(entry.attempts - 1, retryPolicy, Math.random())); // runtime/J2
  }

  private again(entry: Entry, delayMs: number): void {
    if (entry.settled) return;
    if (this.closed !== null) return this.settle(entry, { kind: "unknown", reason: this.closed });
    this.stats.retried += 1;
    if (entry.attempts === 5) this.port.note(entry.out, "still not acknowledged; trying on");
    entry.alone = true;
    if (delayMs === 0) this.queue.push(entry);
    else this.queue.delay(entry, delayMs, () => this.schedulePump());
  }

  private settle(entry: Entry, result: PublishResult): void {
    if (entry.settled) return; // runtime/J2
    entry.settled = true;
    entry.resolve(result);
  }
}
