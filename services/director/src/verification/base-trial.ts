/**
 * The trials of one base, which run while attempts work on it.
 *
 * Lifecycle: running -> ended, or stopped. They are stopped once no task holds them and no verification waits for them.
 */
import { AntiphonError, limits, type SandboxTrials } from "@antiphon/contracts";
import type { RoomOutcome } from "../ports.ts";
import type { KeptBase } from "./kept-base.ts";
import { isHolderOf } from "./base-order.ts";

interface Parts {
  /** Milliseconds; only differences count. */
  now(): number;
  /** Null: it is no answer. Never rejects. */
  run(stop: AbortSignal): Promise<RoomOutcome | null>;
}

export class BaseTrial {
  readonly asked: SandboxTrials;
  /** Null: it is no answer. Never rejects. */
  readonly ended: Promise<RoomOutcome | null>;
  readonly #parts: Parts;
  readonly #stop = new AbortController();
  /** The tasks that it was begun for. */
  readonly #holders = new Set<string>();
  #waiting = 0;
  /** Null: it is running. */
  #endedAtMs: number | null = null;

  constructor(asked: SandboxTrials, parts: Parts) {
    this.asked = asked;
    this.#parts = parts;
    this.ended = parts.run(this.#stop.signal).then((outcome) => {
      this.#endedAtMs = parts.now();
      return outcome;
    });
  }

  /** It runs, or ended not long ago. */
  get isFresh(): boolean {
    if (this.#endedAtMs === null) return !this.#stop.signal.aborted;
    return this.#parts.now() - this.#endedAtMs < limits.baseTrialKeepMs;
  }

  hold(holder: string): void {
    this.#holders.add(holder);
  }

  release(holder: string): void {
    if (this.#holders.delete(holder)) this.#stopUnwanted();
  }

  releaseRun(runId: string): void {
    for (const holder of this.#holders) if (isHolderOf(holder, runId)) this.#holders.delete(holder);
    this.#stopUnwanted();
  }

  /** Null: it is no answer. Rejects when `signal` aborts meanwhile. */
  async wait(signal: AbortSignal): Promise<KeptBase | null> {
    this.#waiting += 1;
    try {
      const outcome = await orAborted(this.ended, signal);
      return outcome === null ? null : { asked: this.asked, outcome };
    } finally {
      this.#waiting -= 1;
      this.#stopUnwanted();
    }
  }

  stop(): void {
    this.#stop.abort();
  }

  #stopUnwanted(): void {
    if (this.#endedAtMs === null && this.#holders.size === 0 && this.#waiting === 0) this.stop();
  }
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void =>
      reject(new AntiphonError("ANT_SANDBOX_CANCELED", "the wait for the base ended"));
    if (signal.aborted) return aborted();
    signal.addEventListener("abort", aborted, { once: true });
    void work.then(resolve).finally(() => signal.removeEventListener("abort", aborted));
  });
}
