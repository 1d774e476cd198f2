// Counts calls in a sliding window, in constant memory. At no time are more than `allowed` calls admitted within a
// window: a slot is forgotten only when all of it is older than the window. Pure.
const SLOTS = 60;

export class CallWindow {
  readonly #windowMs: number;
  readonly #slotMs: number;
  /** Slot numbers since the epoch with their calls, oldest first; at most SLOTS + 1. */
  #slots: (readonly [slot: number, calls: number])[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
    this.#slotMs = windowMs / SLOTS;
  }

  /** The time of the next allowed call; `now` if it is allowed at once. */
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
    // If the clock was set back, the call counts into the newest slot.
    if (last !== undefined && last[0] >= slot) this.#slots[this.#slots.length - 1] = [last[0], last[1] + 1];
    else this.#slots.push([slot, 1]);
  }

  #endOf(slot: number): number {
    return Math.ceil((slot + 1) * this.#slotMs) + this.#windowMs;
  }

  #forget(now: number): void {
    this.#slots = this.#slots.filter(([slot]) => this.#endOf(slot) > now);
  }
}
