/**
 * WakeableLoop: does a step every so often while something is left to do, and sleeps without a timer while nothing is, so
 * that an idle Director is not woken.
 *
 * Lifecycle: resting -> (needed) a pause, a step -> as long as something is left: a pause, a step -> resting; until the
 * signal aborts.
 *
 * Invariants:
 *   D25 Whoever makes something to do says so, and a step that left something, or failed, is followed by another.
 */
import { systemClock, type Clock, type Logger } from "@antiphon/runtime";

export interface WakeableLoopParts {
  /** "more": something is left to do. */
  step: () => Promise<"more" | "nothing">;
  everyMs: number;
  /** What it means for a step to fail, for the log. */
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

  /** There is something to do. */
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
      this.#isNeeded = false; // D25: before the step, so that what comes up meanwhile is not missed
      try {
        if ((await step()) === "more") this.#isNeeded = true;
      } catch (error) {
        log.warn({ err: error }, `${failure}; tried again`);
        this.#isNeeded = true;
      }
    }
  }
}
