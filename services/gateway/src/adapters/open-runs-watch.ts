// How many runs are open, as the server counts them. Above the bound a new run is turned away before it is promised.
//
// Invariants:
//   A3 At the bound of open runs a new one is refused with 429; what was accepted goes on.
//   A4 The count is the journal's own: it survives every restart. Between two looks at it what this gateway accepted is
//      added, so a burst through one gateway does not pass the bound; several gateways may pass it by what each of
//      them takes in within a second.
import { AntiphonError } from "@antiphon/contracts";

const FRESH_MS = 1_000;

export class OpenRunsWatch {
  readonly #count: () => Promise<number>;
  readonly #bound: number;
  #open: number | null = null;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | null = null;

  constructor(count: () => Promise<number>, bound: number) {
    this.#count = count;
    this.#bound = bound;
  }

  /** Takes a place for a new run; throws ANT_GATEWAY_BUSY when there is none. `release` gives it back. */
  async admit(): Promise<{ release(): void }> {
    if (performance.now() - this.#askedAt > FRESH_MS) await (this.#asking ??= this.#ask());
    if (this.#open !== null && this.#open >= this.#bound) {
      const message = `${this.#open} runs are open; at ${this.#bound} no new one is taken in`;
      throw new AntiphonError("ANT_GATEWAY_BUSY", message, {
        data: { open: this.#open, limit: this.#bound },
      }); // A3
    }
    if (this.#open !== null) this.#open += 1; // A4
    return {
      release: () => {
        if (this.#open !== null) this.#open -= 1;
      },
    };
  }

  async #ask(): Promise<void> {
    try {
      this.#open = await this.#count();
    } finally {
      this.#askedAt = performance.now();
      this.#asking = null;
    }
  }
}
