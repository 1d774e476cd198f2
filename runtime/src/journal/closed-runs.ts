import { subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { believedOf } from "./forged.ts";
import { journalStreamOf } from "./run-messages.ts";

/**
 * Decides which of the runs with a message on their `closed` subject are really over. The subject alone proves nothing:
 * anyone who may publish can write there, and a run that counts as over is no longer swept.
 *
 * Each `closed` is verified once; runs that this process closed itself need no look. One call verifies a bounded number
 * of them. The remaining ones count as over until a later call verifies them.
 */
/** Size of one request. */
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

  /** The runs among `named` that are over. Forgets all others. */
  async among(named: readonly string[]): Promise<ReadonlySet<string>> {
    const over = new Set(named.filter((runId) => this.known.has(runId)));
    const unknown = named.filter((runId) => !over.has(runId));
    for (let from = 0; from < Math.min(unknown.length, looksPerCall); from += PAGE) {
      for (const runId of await this.look(unknown.slice(from, from + PAGE))) over.add(runId);
    }
    this.known = new Set(over);
    return new Set([...over, ...unknown.slice(looksPerCall)]);
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
