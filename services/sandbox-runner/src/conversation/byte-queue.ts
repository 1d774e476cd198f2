/**
 * A buffer for bytes that arrive in pieces. Pieces are joined only when enough have arrived: a sandbox may send single
 * bytes, and joining at every piece would copy all waiting bytes each time.
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

  /** All waiting bytes as one buffer. They stay in the queue. */
  joined(): Buffer {
    const [only = NOTHING] = this.#pieces;
    if (this.#pieces.length < 2) return only;
    const whole = Buffer.concat(this.#pieces, this.#length);
    this.#pieces = [whole];
    return whole;
  }

  /** Replaces the content of the queue by a copy of `rest`, so that the larger buffer it was cut from can be freed. */
  keep(rest: Buffer): void {
    this.#pieces = rest.length === 0 ? [] : [Buffer.from(rest)];
    this.#length = rest.length;
  }
}
