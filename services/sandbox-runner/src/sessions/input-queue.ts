/**
 * A command's input as numbered pieces, which the requester may send more than once. One piece waits at a time. Every
 * piece is answered: when the command has taken it, or when the command no longer reads.
 */
export class InputQueue implements AsyncIterable<Buffer> {
  #next = 0;
  #piece: { readonly data: Buffer; readonly end: boolean; readonly taken: () => void } | null = null;
  #offered: Promise<void> = Promise.resolve();
  #wake: () => void = () => undefined;
  #closed = false;

  /** Resolves when there is room for the next piece. False when an earlier piece is missing. */
  async offer(seq: number, data: Buffer, end: boolean): Promise<boolean> {
    if (seq > this.#next) return false;
    while (seq === this.#next && this.#piece !== null) await this.#offered; // it must not replace a waiting piece
    if (seq === this.#next && !this.#closed) {
      this.#next += 1;
      this.#offered = new Promise((taken) => {
        this.#piece = { data, end, taken };
      });
      this.#wake();
    }
    // The piece was sent again while it waits: both calls are answered when it is taken.
    if (seq === this.#next - 1) await this.#offered;
    return true;
  }

  /** The command no longer reads: a waiting piece is dropped and answered. */
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
          piece.taken(); // a reader that leaves does so at the yield
        }
        if (piece.end) return;
      }
    } finally {
      this.close();
    }
  }
}
