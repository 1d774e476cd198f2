// Counts calls in a window that slides with the time, in memory that does not grow with the calls. Pure.
//
// Invariants:
//   CW1 At no time are more than `allowed` calls admitted within a window, and a window's slot is forgotten when all
//       of it is older than the window.
const SLOTS = 60;

export class CallWindow {
  readonly #windowMs: number;
  readonly #slotMs: number;
  /** Number of a slot since the epoch, and its calls; at most SLOTS + 1 of them, oldest first. */
  #slots: (readonly [slot: number, calls: number])[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
    this.#slotMs = windowMs / SLOTS;
  }

  /** When one more call may be made: `now` where it may be at once. */
  freeAt(now: number, allowed: number): number {
    this.#forget(now);
    let inWindow = this.#slots.reduce((sum, [, calls]) => sum + calls, 0);
    if (inWindow < allowed) return now;
    for (const [slot, calls] of this.#slots) {
      inWindow -= calls;
      if (inWindow < allowed) return this.#endOf(slot);
    }
    return now + this.#windowMs; // Nothing is allowed at all.
  }

  add(now: number): void {
    const slot = Math.floor(now / this.#slotMs);
    const last = this.#slots.at(-1);
    // A clock that was set back counts into the newest slot.
    if (last !== undefined && last[0] >= slot) this.#slots[this.#slots.length - 1] = [last[0], last[1] + 1];
    else this.#slots.push([slot, 1]);
  }

  #endOf(slot: number): number {
    return Math.ceil((slot + 1) * this.#slotMs) + this.#windowMs;
  }

  #forget(now: number): void {
    this.#slots = this.#slots.filter(([slot]) => this.#endOf(slot) > now); // CW1
  }
}
