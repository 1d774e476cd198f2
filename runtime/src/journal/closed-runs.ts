import { subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { believedOf } from "./forged.ts";
import { journalStreamOf } from "./run-messages.ts";

/**
 * Which of the runs that have a message on the subject of `closed` are over. A name alone proves nothing: anybody may
 * write one there, and a run that is taken for over is swept by nobody any more.
 *
 * Invariants:
 *   CR1 A `closed` that is believed is looked at once; what this process closed itself, never.
 *   CR2 One call looks at a bounded number of them. What it does not come to counts as over until a later call does.
 */
/** Of one request. */
const PAGE = 256;
const looksPerCall = 4_096;

export class ClosedRuns {
  private readonly bus: Bus;
  private known = new Set<string>();

  constructor(bus: Bus) {
    this.bus = bus;
  }

  add(runId: string): void {
    this.known.add(runId);
  }

  /** Those of `named` that are over. Forgets about all others. */
  async among(named: readonly string[]): Promise<ReadonlySet<string>> {
    const over = new Set(named.filter((runId) => this.known.has(runId)));
    const unknown = named.filter((runId) => !over.has(runId));
    for (let from = 0; from < Math.min(unknown.length, looksPerCall); from += PAGE) {
      for (const runId of await this.look(unknown.slice(from, from + PAGE))) over.add(runId);
    }
    this.known = new Set(over); // CR1
    return new Set([...over, ...unknown.slice(looksPerCall)]); // CR2
  }

  /** The ids whose `closed` is believed. */
  private async look(runIds: readonly string[]): Promise<string[]> {
    const streams = new Set(runIds.map((runId) => journalStreamOf(this.bus, runId)));
    const found: string[] = [];
    for (const stream of streams) {
      const ids = runIds.filter((runId) => journalStreamOf(this.bus, runId) === stream);
      const bySubject = new Map(ids.map((runId) => [this.subjectOf(runId), runId]));
      const messages = await this.bus.reader.multiLast(stream, [...bySubject.keys()]);
      for (const { subject } of await believedOf(this.bus, stream, messages)) {
        const runId = bySubject.get(subject);
        if (runId !== undefined) found.push(runId);
      }
    }
    return found;
  }

  private subjectOf(runId: string): string {
    return subjects.journal({ type: "closed", runId, taskId: null, epoch: 0 }, this.bus.partitions);
  }
}
