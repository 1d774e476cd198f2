/**
 * When the warm pool is filled up again. A refill would compete with the job that emptied the place for the same cores, so
 * the job gets a head start: a short one if nothing is ready, and otherwise a longer one, which each further take begins
 * anew, but only for so long in all.
 */
const DRY_MS = 250;
const UNHURRIED_MS = 600;
const UNHURRIED_IN_ALL_MS = 1_200;

export class RefillTimer {
  readonly #refill: () => void;
  readonly #now: () => number;
  #due: { readonly timer: NodeJS.Timeout; readonly atMs: number } | null = null;
  /** Since when places are empty that no refill was begun for; null: there are none. */
  #owedSinceMs: number | null = null;
  #isClosed = false;

  constructor(refill: () => void, now: () => number) {
    this.#refill = refill;
    this.#now = now;
  }

  /** A refill has begun. */
  begun(): void {
    this.#owedSinceMs = null;
  }

  /** Takes in quick succession do not put off the refill of a pool that has none ready. */
  taken(isDry: boolean): void {
    const now = this.#now();
    this.#owedSinceMs ??= now;
    const dueMs = isDry
      ? Math.min(this.#due?.atMs ?? Infinity, now + DRY_MS)
      : Math.min(this.#owedSinceMs + UNHURRIED_IN_ALL_MS, now + UNHURRIED_MS);
    this.#stop();
    this.in(Math.max(0, dueMs - now));
  }

  /** One that is due already stays. */
  in(delayMs = DRY_MS): void {
    if (this.#isClosed || this.#due !== null) return;
    const timer = setTimeout(() => {
      this.#due = null;
      this.#refill();
    }, delayMs);
    this.#due = { timer: timer.unref(), atMs: this.#now() + delayMs };
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  #stop(): void {
    clearTimeout(this.#due?.timer);
    this.#due = null;
  }
}
