/** A job's hold on its sandbox. */
import type { Lease as PoolLease } from "../pool/lease.ts";
import type { JobPorts } from "./job-ports.ts";

export interface Lease extends PoolLease {
  /** Renames the container for another attempt of the task. */
  readonly goesOnFor: (epoch: number) => void;
}

/** Works in the sandbox and releases it on every path, at once when the signal aborts. */
export async function whileLeased<T>(
  lease: Lease,
  { later }: Pick<JobPorts, "later">,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const stop = (): void => void lease.release();
  signal.addEventListener("abort", stop, { once: true }); // sandbox-runner/S4
  try {
    signal.throwIfAborted();
    return await work();
  } finally {
    signal.removeEventListener("abort", stop);
    later(lease.release()); // sandbox-runner/S4
  }
}
