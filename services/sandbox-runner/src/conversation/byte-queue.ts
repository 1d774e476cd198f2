/**
 * Bytes that came in pieces and wait for their end. Pieces are joined when enough of them are there: to join them at
 * each piece would copy what waits once for every piece, and a sandbox may send single bytes.
 */
const NOTHING = Buffer.alloc(0);

export class ByteQueue {
  #pieces: Buffer[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  /** All that waits, in one piece; it goes on waiting. */
  joined(): Buffer {
    const [only = NOTHING] = this.#pieces;
    if (this.#pieces.length < 2) return only;
    const whole = Buffer.concat(this.#pieces, this.#length);
    this.#pieces = [whole];
    return whole;
  }

  /** Only these wait from now on: a copy, so that what they were cut from can go. */
  keep(rest: Buffer): void {
    this.#pieces = rest.length === 0 ? [] : [Buffer.from(rest)];
    this.#length = rest.length;
  }
}
