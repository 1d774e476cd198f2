/**
 * A command's input as numbered pieces from a requester who may say a piece twice. One piece waits at a time; it is
 * answered when it is taken.
 *
 * Invariants:
 *   M9  Every piece is answered: when the command has taken it, or when the command reads no more, whichever way that
 *       was told.
 */
export class InputQueue implements AsyncIterable<Buffer> {
  #next = 0;
  #piece: { readonly data: Buffer; readonly end: boolean; readonly taken: () => void } | null = null;
  #offered: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;
  #closed = false;

  /** Resolves when there is room for the next. False: a piece before it is missing. */
  async offer(seq: number, data: Buffer, end: boolean): Promise<boolean> {
    if (seq > this.#next) return false;
    while (seq === this.#next && this.#piece !== null) await this.#offered; // M9: it takes nobody's place
    if (seq === this.#next && !this.#closed) {
      this.#next += 1;
      this.#offered = new Promise((taken) => {
        this.#piece = { data, end, taken };
      });
      this.#wake();
    }
    // Said again while it still waits: both are answered when it is taken.
    if (seq === this.#next - 1) await this.#offered;
    return true;
  }

  /** The command reads no more: what waits is dropped, and answered. */
  close(): void {
    this.#closed = true;
    this.#piece?.taken();
    this.#piece = null;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    try {
      while (!this.#closed) {
        const piece = this.#piece;
        if (piece === null) {
          await new Promise<void>((resolve) => (this.#wake = resolve));
          continue;
        }
        this.#piece = null;
        try {
          if (piece.data.length > 0) yield piece.data;
        } finally {
          piece.taken(); // M9: a reader that leaves does so at the yield
        }
        if (piece.end) return;
      }
    } finally {
      this.close();
    }
  }
}
