// How many runs are open, as the server counts them. Above the bound a new run is turned away before it is promised.
//
// Lifecycle of a place: held -> stored (the journal has the run, or may have it) or released. The first of the two
// counts.
//
// Invariants:
//   A3 At the bound of open runs a new one is refused with 429; what was accepted goes on.
//   A4 The count is the journal's own: it survives every restart. Between two looks at it what this gateway accepted is
//      added, so a burst through one gateway does not pass the bound; several gateways may pass it by what each of
//      them has under way and takes in within a second.
//   A5 A place is held from the request until its run is stored or refused, however long that takes: no look at the
//      journal, which does not know the run yet, forgets it. A run stored while the journal is looked at counts, too.
import { AntiphonError } from "@antiphon/contracts";
import type { Place } from "../ports.ts";

const FRESH_MS = 1_000;

export class OpenRunsWatch {
  readonly #count: () => Promise<number>;
  readonly #bound: number;
  /** Places of runs the journal does not have yet. */
  #held = 0;
  /** What the journal said last, and what this gateway has stored since. */
  #open = 0;
  /** Runs this gateway has stored since it started. */
  #stored = 0;
  #askedAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | null = null;

  /** `count` has to end: whoever gives up waiting for `admit` leaves its place taken. */
  constructor(count: () => Promise<number>, bound: number) {
    this.#count = count;
    this.#bound = bound;
  }

  /** Takes a place for a new run; throws ANT_GATEWAY_BUSY when there is none. */
  async admit(): Promise<Place> {
    if (performance.now() - this.#askedAt > FRESH_MS) await (this.#asking ??= this.#ask());
    const open = this.#held + this.#open;
    if (open >= this.#bound) {
      const message = `${open} runs are open; at ${this.#bound} no new one is taken in`;
      throw new AntiphonError("ANT_GATEWAY_BUSY", message, { data: { open, limit: this.#bound } }); // A3
    }
    this.#held += 1; // A5
    let isHeld = true;
    const giveUp = (stored: number): void => {
      if (!isHeld) return;
      isHeld = false;
      this.#held -= 1;
      this.#stored += stored;
      this.#open += stored; // A4
    };
    return { stored: () => giveUp(1), release: () => giveUp(0) };
  }

  async #ask(): Promise<void> {
    const before = this.#stored;
    try {
      const counted = await this.#count();
      // A5: some of these may have been counted already; for a second they count twice, rather than not at all.
      this.#open = counted + this.#stored - before;
    } finally {
      this.#askedAt = performance.now();
      this.#asking = null;
    }
  }
}
