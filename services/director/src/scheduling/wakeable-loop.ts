/**
 * A wakeable loop: repeats a step while work is left, and otherwise sleeps without a timer, so that an idle Director is
 * not woken.
 *
 * Lifecycle: idle -> (`needed()`) pause, step -> as long as work is left: pause, step -> idle; until the signal aborts.
 * `needed()` schedules a step. A step that left work, or that failed, schedules the next one.
 */
import { systemClock, type Clock, type Logger } from "@antiphon/runtime";

export interface WakeableLoopParts {
  /** "more": work is left. */
  step: () => Promise<"more" | "nothing">;
  everyMs: number;
  /** The log line of a failed step, for example "timers not set". */
  failure: string;
  log: Logger;
  clock?: Pick<Clock, "sleep">;
}

export class WakeableLoop {
  readonly #parts: WakeableLoopParts;
  #isNeeded = false;
  #wake: () => void = () => undefined;

  constructor(parts: WakeableLoopParts) {
    this.#parts = parts;
  }

  /** Schedules a step. */
  needed(): void {
    this.#isNeeded = true;
    this.#wake();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { step, everyMs, failure, log, clock = systemClock } = this.#parts;
    const onAbort = (): void => this.#wake();
    signal.addEventListener("abort", onAbort, { once: true });
    while (!signal.aborted) {
      if (!this.#isNeeded) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      await clock.sleep(everyMs, signal);
      if (signal.aborted) return;
      this.#isNeeded = false; // Before the step, so that a call of needed() during it counts.
      try {
        if ((await step()) === "more") this.#isNeeded = true;
      } catch (error) {
        log.warn({ err: error }, `${failure}; trying again`);
        this.#isNeeded = true;
      }
    }
  }
}
