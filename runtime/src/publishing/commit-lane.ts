import type { Msg } from "@nats-io/nats-core";
import { backoffMs } from "../process/backoff.ts";
import { nextCommit } from "./group-commit.ts";
import type { PublishResult } from "./publish-result.ts";
import { failed, parsePubAck } from "./publish-result.ts";
import type { Deadline } from "../process/deadlines.ts";
import { uniqueId } from "../process/ids.ts";
import { onAbort } from "../process/abort-listeners.ts";
import { type HeaderLines, headerLines, joined, noHeaders } from "../nats/wire-headers.ts";
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
interface Entry {
  out: Outgoing;
  resolve: (result: PublishResult) => void;
  attempts: number;
  alone: boolean;
  settled: boolean;
}

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
  private queue: Entry[] = [];
  private head = 0;
  private readonly commits = new Set<Commit>();
  private readonly delayed = new Map<Entry, Deadline>();
  private singlesInFlight = 0;
  private batchesInFlight = 0;
  private closed: string | null = null;
  private pumping = false;

  constructor(port: LanePort) {
    this.port = port;
  }

  submit(out: Outgoing, signal?: AbortSignal): Promise<PublishResult> {
    // A signal that was aborted earlier calls no listener.
    if (signal?.aborted === true) return Promise.resolve({ kind: "unknown", reason: "aborted" });
    return new Promise((resolve) => {
      const entry: Entry = {
        out,
        resolve,
        attempts: 0,
        alone: !out.group || out.once === true,
        settled: false,
      };
      if (signal !== undefined) {
        const stay = onAbort(signal, () => this.settle(entry, { kind: "unknown", reason: "aborted" }));
        entry.resolve = (result) => {
          stay();
          resolve(result);
        };
      }
      if (this.closed !== null) return this.settle(entry, { kind: "unknown", reason: this.closed });
      this.queue.push(entry);
      this.schedulePump();
    });
  }

  suspend(reason: string): void {
    for (const commit of [...this.commits]) this.finish(commit, { kind: "unknown", reason });
  }

  resume(): void {
    for (const [entry, deadline] of [...this.delayed]) {
      this.port.deadlines.cancel(deadline);
      this.delayed.delete(entry);
      this.queue.push(entry);
    }
    this.schedulePump();
  }

  close(reason: string): void {
    this.closed = reason;
    for (const commit of [...this.commits]) this.finish(commit, { kind: "unknown", reason });
    for (const [entry, deadline] of this.delayed) {
      this.port.deadlines.cancel(deadline);
      this.settle(entry, { kind: "unknown", reason });
    }
    this.delayed.clear();
    for (const entry of this.queue.slice(this.head)) this.settle(entry, { kind: "unknown", reason });
    this.queue = [];
    this.head = 0;
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
          queued: this.queue.length - this.head,
          singlesInFlight: this.singlesInFlight,
          batchesInFlight: this.batchesInFlight,
        },
        this.port.limits.group,
      );
      if (next.kind === "wait") return;
      const entries = this.take(next.count);
      if (entries.length === 0) continue;
      const members = next.kind === "batch" ? unrelated(entries.filter((entry) => !entry.alone)) : [];
      const together = members.length >= this.port.limits.group.batchFrom;
      if (together) this.commitBatch(members);
      const committed = new Set(together ? members : []);
      for (const entry of entries) if (!committed.has(entry)) this.commitSingle(entry);
    }
  }

  private take(count: number): Entry[] {
    const taken: Entry[] = [];
    let bytes = 0;
    while (taken.length < count && this.head < this.queue.length) {
      const entry = this.queue[this.head];
      if (entry === undefined) break;
      bytes += entry.out.payload.length;
      if (taken.length > 0 && bytes > this.port.limits.group.batchMaxBytes) break;
      this.head += 1;
      if (!entry.settled) taken.push(entry);
    }
    if (this.head > 1024 || this.head === this.queue.length) {
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
    return taken;
  }

  private commitSingle(entry: Entry): void {
    this.stats.singles += 1;
    this.singlesInFlight += 1;
    const commit = this.begin([entry], false);
    this.transmit(commit, () => {
      this.port.send(
        entry.out.subject,
        entry.out.payload,
        joined(entry.out.headers, expectation(entry.out)),
        this.port.replySubject(commit.token),
      );
    });
  }

  private commitBatch(entries: Entry[]): void {
    this.stats.batches += 1;
    this.stats.batched += entries.length;
    this.batchesInFlight += 1;
    const commit = this.begin(entries, true);
    const id = `${this.name}.${this.stats.batches}`;
    this.transmit(commit, () => {
      entries.forEach((entry, index) => {
        const last = index === entries.length - 1;
        const place = `Nats-Batch-Id: ${id}\r\nNats-Batch-Sequence: ${index + 1}\r\n${last ? "Nats-Batch-Commit: 1\r\n" : ""}`;
        const headers = joined(entry.out.headers, expectation(entry.out), place as HeaderLines);
        const reply = last ? this.port.replySubject(commit.token) : null;
        this.port.send(entry.out.subject, entry.out.payload, headers, reply);
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
    if (delayMs === 0) {
      this.queue.push(entry);
      return;
    }
    const deadline = this.port.deadlines.add(delayMs, () => {
      this.delayed.delete(entry);
      this.queue.push(entry);
      this.schedulePump();
    });
    this.delayed.set(entry, deadline);
  }

  private settle(entry: Entry, result: PublishResult): void {
    if (entry.settled) return; // runtime/J2
    entry.settled = true;
    entry.resolve(result);
  }
}

/** The entries whose expectations do not concern each other (runtime/J2). The others are sent after them. */
function unrelated(entries: readonly Entry[]): Entry[] {
  const scopes = new Set<string>();
  const watched = new Set<string>();
  return entries.filter(({ out: { scope, expectedSubject } }) => {
    if (scope === undefined) return true;
    const watches = expectedSubject !== undefined;
    if (watched.has(scope) || (watches && scopes.has(scope))) return false;
    scopes.add(scope);
    if (watches) watched.add(scope);
    return true;
  });
}

function expectation({ expectLastSubjectSequence: last, expectedSubject }: Outgoing): HeaderLines {
  if (last === undefined) return noHeaders;
  const what = { "Nats-Expected-Last-Subject-Sequence": String(last) };
  if (expectedSubject === undefined) return headerLines(what);
  return headerLines({ ...what, "Nats-Expected-Last-Subject-Sequence-Subject": expectedSubject });
}
