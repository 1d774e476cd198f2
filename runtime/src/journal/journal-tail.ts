import type { StoredRecord } from "@antiphon/contracts";
import { AntiphonError, subjects } from "@antiphon/contracts";
import type { Bus } from "../nats/bus.ts";
import { subscribe } from "../nats/subscription.ts";

/**
 * A tail follows one run without a consumer on the server.
 *
 * A core subscription on the run's subjects only signals that something was published; the records are then read by
 * direct get from the last sequence seen. A missed signal (a reconnect, a record stored late) delays a record by at
 * most `sweepMs`. Records come in stream order, each exactly once. The server keeps no state, so nothing is left to
 * clean up when the process dies, and hundreds of tails cost no stream state.
 */
const sweepMs = 1000;
/** The signal can arrive before the record is on disk, so look again after these delays. */
const looks = [0, 2, 5, 15, 50, 150];

export async function* tailRun(
  bus: Bus,
  runId: string,
  readFrom: (runId: string, fromSeq: number) => Promise<StoredRecord[]>,
  options: { fromSeq?: number; signal: AbortSignal },
): AsyncGenerator<StoredRecord> {
  const bell = new Bell();
  const subscription = subscribe(bus.nc, subjects.run(runId), () => bell.ring());
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
      const records = await readFrom(runId, next).catch((error: unknown) => {
        // An outage may last longer than one read's deadline; the tail waits for its end.
        if (error instanceof AntiphonError && error.code === "ANT_NATS_UNREACHABLE") return [];
        throw error;
      });
      for (const record of records) {
        if (options.signal.aborted) return;
        if (record.seq < next) continue;
        next = record.seq + 1;
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
