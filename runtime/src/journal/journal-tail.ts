import { AntiphonError } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { subscribe } from "../nats/subscription.ts";

/**
 * A tail follows what is stored under a subject, such as a run or a session, without a consumer on the server.
 *
 * A core subscription on the subject only signals that something was published; the records are then read by
 * direct get from the last sequence seen. A missed signal (a reconnect, a record stored late) delays a record by at
 * most `sweepMs`. Records come in stream order, each exactly once. The server keeps no state, so nothing is left to
 * clean up when the process dies, and hundreds of tails cost no stream state.
 */
const sweepMs = 1000;
/** The signal can arrive before the record is on disk, so look again after these delays. */
const looks = [0, 2, 5, 15, 50, 150];

export interface Tailed<T> {
  readonly subject: string;
  /** Those of this sequence and later, in order; maybe not all. */
  readonly readFrom: (fromSeq: number) => Promise<readonly T[]>;
  readonly sequenceOf: (record: T) => number;
}

export async function* tail<T>(
  bus: Bus,
  { subject, readFrom, sequenceOf }: Tailed<T>,
  options: { fromSeq?: number; signal: AbortSignal },
): AsyncGenerator<T> {
  const bell = new Bell();
  const subscription = subscribe(bus.nc, subject, () => bell.ring());
  const offConnectivity = bus.onConnectivity((up) => {
    if (up) bell.ring();
  });
  const onAbort = (): void => bell.ring();
  options.signal.addEventListener("abort", onAbort, { once: true });
  let next = options.fromSeq ?? 0;
  try {
    let heard = bell.count;
    let quiet = 0;
    while (!options.signal.aborted && !bus.nc.isClosed()) {
      const records = await readFrom(next).catch((error: unknown) => {
        // An outage may last longer than one read's deadline; the tail waits for its end.
        if (error instanceof AntiphonError && error.code === "ANT_NATS_UNREACHABLE") return [];
        throw error;
      });
      for (const record of records) {
        if (options.signal.aborted) return;
        if (sequenceOf(record) < next) continue;
        next = sequenceOf(record) + 1;
        yield record;
      }
      if (bell.count !== heard || records.length > 0) {
        heard = bell.count;
        quiet = 0;
      }
      await bell.wait(looks[quiet] ?? sweepMs, heard);
      quiet += 1;
    }
  } finally {
    options.signal.removeEventListener("abort", onAbort);
    offConnectivity();
    if (!subscription.isClosed()) subscription.unsubscribe();
  }
}

/** Counts rings, so that a ring between two waits is not lost. */
class Bell {
  count = 0;
  private waiting: (() => void) | null = null;

  ring(): void {
    this.count += 1;
    this.waiting?.();
  }

  wait(ms: number, heard: number): Promise<void> {
    if (this.count !== heard) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.waiting = null;
        resolve();
      };
      const timer = setTimeout(finish, ms);
      this.waiting = finish;
    });
  }
}
