/**
 * Hears of every run that is over, as it is stored: a push consumer on the `closed` records that asks for no
 * acknowledgement, so that watching costs little. What counts in the end is the audit of the journal.
 */
import {
  JOURNAL_PARTITIONS,
  decode,
  journalStream,
  parseJournalSubject,
  subjects,
} from "@antiphon/contracts";
import { uniqueId } from "@antiphon/runtime";
import type { Bus } from "@antiphon/runtime";

export interface Completion {
  readonly runId: string;
  readonly atMs: number;
}

export class Completions {
  readonly #waiting = new Map<string, (done: Completion) => void>();
  readonly #early = new Map<string, Completion>();
  readonly #stops: (() => Promise<unknown>)[] = [];
  /** `closed` records that did not say "succeeded". */
  readonly failures: string[] = [];

  async listen(bus: Bus): Promise<void> {
    for (let partition = 0; partition < JOURNAL_PARTITIONS; partition += 1) {
      const inbox = `_INBOX.load.${uniqueId()}`;
      const subscription = bus.nc.subscribe(inbox, {
        callback: (error, message) => {
          const address = error === null ? parseJournalSubject(message.subject) : null;
          if (address !== null) this.#hear(address.runId, message.data);
        },
      });
      const stream = journalStream(partition);
      const { name } = await bus.jsm.consumers.add(stream, {
        name: `load_${uniqueId()}`,
        deliver_subject: inbox,
        deliver_policy: "new",
        ack_policy: "none",
        filter_subject: subjects.partitionType(partition, "closed"),
        mem_storage: true,
        inactive_threshold: 60_000_000_000,
      } as unknown as Parameters<typeof bus.jsm.consumers.add>[1]);
      this.#stops.push(async () => {
        subscription.unsubscribe();
        await bus.jsm.consumers.delete(stream, name);
      });
    }
  }

  /** Resolves when the run is over; null at the deadline. */
  async of(runId: string, deadlineMs: number): Promise<Completion | null> {
    const early = this.#early.get(runId);
    if (early !== undefined) {
      this.#early.delete(runId);
      return early;
    }
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), deadlineMs);
    });
    const done = new Promise<Completion>((resolve) => this.#waiting.set(runId, resolve));
    const first = await Promise.race([done, late]);
    clearTimeout(timer);
    this.#waiting.delete(runId);
    return first;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()));
  }

  #hear(runId: string, data: Uint8Array): void {
    const { status, message } = (decode(data) as { body: { status: string; message: string } }).body;
    if (status !== "succeeded") this.failures.push(`${runId} ${status}: ${message}`);
    const done = { runId, atMs: performance.now() };
    const waiter = this.#waiting.get(runId);
    if (waiter === undefined) this.#early.set(runId, done);
    else waiter(done);
  }
}
