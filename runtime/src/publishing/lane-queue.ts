import type { Deadline, Deadlines } from "../process/deadlines.ts";
import type { PublishResult } from "./publish-result.ts";
import type { Outgoing } from "./publisher.ts";

export interface Entry {
  readonly out: Outgoing;
  readonly resolve: (result: PublishResult) => void;
  attempts: number;
  alone: boolean;
  settled: boolean;
}

/** The entries of a lane that are not in flight: queued in the order in which they are sent, or delayed until then. */
export class LaneQueue {
  private readonly deadlines: Deadlines;
  private readonly delayed = new Map<Entry, Deadline>();
  private queue: Entry[] = [];
  private head = 0;

  constructor(deadlines: Deadlines) {
    this.deadlines = deadlines;
  }

  get length(): number {
    return this.queue.length - this.head;
  }

  push(entry: Entry): void {
    this.queue.push(entry);
  }

  /** Up to `count` unsettled entries of at most `maxBytes` together, but of any size if there is only one. */
  take(count: number, maxBytes: number): Entry[] {
    const taken: Entry[] = [];
    let bytes = 0;
    while (taken.length < count) {
      const entry = this.queue[this.head];
      if (entry === undefined) break;
      bytes += entry.out.payload.length;
      if (taken.length > 0 && bytes > maxBytes) break;
      this.head += 1;
      if (!entry.settled) taken.push(entry);
    }
    if (this.head > 1024 || this.length === 0) {
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
    return taken;
  }

  delay(entry: Entry, delayMs: number, isQueued: () => void): void {
    const deadline = this.deadlines.add(delayMs, () => {
      this.delayed.delete(entry);
      this.queue.push(entry);
      isQueued();
    });
    this.delayed.set(entry, deadline);
  }

  /** Queues every delayed entry now. */
  hurry(): void {
    for (const [entry, deadline] of this.delayed) {
      this.deadlines.cancel(deadline);
      this.queue.push(entry);
    }
    this.delayed.clear();
  }

  /** Removes all entries. */
  clear(): Entry[] {
    this.hurry();
    return this.take(Infinity, Infinity);
  }
}
