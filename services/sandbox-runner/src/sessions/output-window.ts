/** Counts output that a listener has not taken yet. When more than the window is under way, the sender has to wait. */
export class OutputWindow {
  readonly #most: number;
  #sent = 0;
  #taken = 0;
  #waiting: (() => void) | null = null;

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts a sent piece. Returns a promise when the next piece has to wait until it resolves. */
  sent(bytes: number): Promise<void> | undefined {
    this.#sent += bytes;
    if (this.#sent - this.#taken < this.#most) return undefined;
    return new Promise((resolve) => {
      const before = this.#waiting;
      this.#waiting = () => {
        before?.();
        resolve();
      };
    });
  }

  /** `total` is all that was taken so far. A total below an earlier one changes nothing. */
  taken(total: number): void {
    this.#taken = Math.max(this.#taken, Math.min(total, this.#sent));
    if (this.#sent - this.#taken >= this.#most) return;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.();
  }
}
