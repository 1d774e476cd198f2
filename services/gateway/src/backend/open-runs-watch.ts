// Counts the open runs and refuses a new one at the bound.
//
// Lifecycle of a place: held -> stored (the journal has the run, or may have it) or released. Only the first call counts.
//
// The count comes from the journal, so it survives restarts. It is refreshed at most once a second; in between, this
// gateway adds the runs it has stored itself. Several gateways together can pass the bound by the runs that each of them
// accepts within that second.
//
// Because a place is held from the request until its run is stored or refused, a burst of new runs through one gateway
// cannot pass the bound: above it a new run is refused with 429, and accepted runs are not affected (gateway/G7).
import { AntiphonError } from "@antiphon/contracts";
import type { Place } from "../ports.ts";

const FRESH_MS = 1_000;

export class OpenRunsWatch {
  readonly #count: () => Promise<number>;
  readonly #bound: number;
  /** Places of runs the journal does not have yet. */
  #held = 0;
  /** The journal's last count, plus the runs this gateway has stored since. */
  #open = 0;
  /** Runs this gateway has stored since it started. */
  #stored = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | null = null;

  /** `count` must settle: a caller that stops waiting for `admit` would leave its place taken. */
  constructor(count: () => Promise<number>, bound: number) {
    this.#count = count;
    this.#bound = bound;
  }

  /** Takes a place for a new run; throws ANT_GATEWAY_BUSY if there is none. */
  async admit(): Promise<Place> {
    if (performance.now() - this.#askedAt > FRESH_MS) await (this.#asking ??= this.#ask());
    const open = this.#held + this.#open;
    if (open >= this.#bound) {
      const message = `${open} runs are open; at ${this.#bound} no new run is accepted`;
      throw new AntiphonError("ANT_GATEWAY_BUSY", message, { data: { open, limit: this.#bound } }); // gateway/G7
    }
    this.#held += 1; // gateway/G7
    let isHeld = true;
    const giveUp = (stored: number): void => {
      if (!isHeld) return;
      isHeld = false;
      this.#held -= 1;
      this.#stored += stored;
      this.#open += stored;
    };
    return { stored: () => giveUp(1), release: () => giveUp(0) };
  }

  async #ask(): Promise<void> {
    const before = this.#stored;
    try {
      const counted = await this.#count();
      // Runs stored during the count may be included in it already. Counting them twice for a second is the safe side.
      this.#open = counted + this.#stored - before;
    } finally {
      this.#askedAt = performance.now();
      this.#asking = null;
    }
  }
}
