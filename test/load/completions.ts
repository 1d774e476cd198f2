/**
 * Watches for ended runs: a push consumer on the `closed` records without acknowledgements, so that watching costs little. The
 * audit of the journal decides in the end.
 */
import { decode, journalStream, parseJournalSubject, subjects } from "@antiphon/contracts";
import { uniqueId } from "@antiphon/runtime";
import type { Bus } from "@antiphon/runtime";
import { parseAckSubject } from "@antiphon/runtime/work/ack-subject";

export interface Completion {
  readonly runId: string;
  readonly atMs: number;
}

export class Completions {
  readonly #waiting = new Map<string, (done: Completion) => void>();
  readonly #early = new Map<string, Completion>();
  readonly #stops: (() => Promise<unknown>)[] = [];
  /** The sequence to continue from, by partition. */
  readonly #next = new Map<number, number>();
  readonly #heard = new Set<string>();
  /** `closed` records that did not say "succeeded". */
  readonly failures: string[] = [];

  /** Also called when a server is back that lost the consumer with its memory. */
  async listen(bus: Bus): Promise<void> {
    const partitions = Array.from({ length: bus.partitions }, (_, partition) => partition);
    await Promise.all(partitions.map((partition) => this.#watch(bus, partition)));
    const off = bus.onConnectivity((up) => {
      if (up) for (const partition of partitions) void this.#watch(bus, partition).catch(() => undefined);
    });
    this.#stops.push(() => Promise.resolve(off()));
  }

  async #watch(bus: Bus, partition: number): Promise<void> {
    const inbox = `_INBOX.load.${uniqueId()}`;
    const subscription = bus.nc.subscribe(inbox, {
      callback: (error, message) => {
        const address = error === null ? parseJournalSubject(message.subject) : null;
        if (address === null) return;
        const seq = parseAckSubject(message.reply ?? "")?.seq ?? 0;
        this.#next.set(partition, Math.max(seq + 1, this.#next.get(partition) ?? 0));
        this.#hear(address.runId, message.data);
      },
    });
    this.#stops.push(() => Promise.resolve(subscription.unsubscribe()));
    const from = this.#next.get(partition);
    const settings = {
      name: `load_${uniqueId()}`,
      deliver_subject: inbox,
      ...(from === undefined
        ? { deliver_policy: "new" }
        : { deliver_policy: "by_start_sequence", opt_start_seq: from }),
      ack_policy: "none",
      filter_subject: subjects.partitionType(partition, "closed"),
      mem_storage: true,
      inactive_threshold: 60_000_000_000,
    };
    const { consumers } = bus.jsm;
    await consumers.add(journalStream(partition), settings as unknown as Parameters<typeof consumers.add>[1]);
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
    if (this.#heard.has(runId)) return;
    this.#heard.add(runId);
    const waiter = this.#waiting.get(runId);
    if (waiter === undefined) this.#early.set(runId, done);
    else waiter(done);
  }
}
