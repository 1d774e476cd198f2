/** Output on its way to somebody who says how much of it they have taken: more than the window waits. */
export class OutputWindow {
  readonly #most: number;
  #sent = 0;
  #taken = 0;
  #waiting: (() => void) | null = null;

  constructor(most: number) {
    this.#most = most;
  }

  /** Something was sent. A promise when the next piece has to wait until it resolves. */
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

  /** All that was taken so far; an older word than one heard before says nothing. */
  taken(total: number): void {
    this.#taken = Math.max(this.#taken, Math.min(total, this.#sent));
    if (this.#sent - this.#taken >= this.#most) return;
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.();
  }
}
