/** Reads a stream of bytes by length or by line, and holds one piece of it besides what was asked for. */
const NOTHING = Buffer.alloc(0);
const LINE_FEED = 10;

export class PieceReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #endsEarly: () => Error;
  #piece: Buffer = NOTHING;

  /** `endsEarly`: what is thrown when there is less than was asked for. */
  constructor(source: AsyncIterable<Uint8Array>, endsEarly: () => Error) {
    this.#source = source[Symbol.asyncIterator]();
    this.#endsEarly = endsEarly;
  }

  async take(size: number): Promise<Buffer> {
    if (this.#piece.length >= size) return this.#cut(size);
    const parts: Buffer[] = [];
    for await (const part of this.pieces(size)) parts.push(part);
    return Buffer.concat(parts, size);
  }

  /** So many bytes, as they come. */
  async *pieces(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0;) {
      if (this.#piece.length === 0 && !(await this.#next())) throw this.#endsEarly();
      const part = this.#cut(Math.min(left, this.#piece.length));
      left -= part.length;
      yield part;
    }
  }

  /** Without its line feed. A line of more than `most` bytes counts as an early end. */
  async line(most: number): Promise<string> {
    let held: Buffer = NOTHING;
    for (;;) {
      const end = this.#piece.indexOf(LINE_FEED);
      const part = this.#cut(end === -1 ? this.#piece.length : end + 1);
      held = held.length === 0 ? part : Buffer.concat([held, part]);
      if (held.length > most) throw this.#endsEarly();
      if (end !== -1) return held.toString("latin1", 0, held.length - 1);
      if (!(await this.#next())) throw this.#endsEarly();
    }
  }

  /** Reads what is left, so that its source can say whether all of it was right. */
  async finish(): Promise<void> {
    while (await this.#next());
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  #cut(size: number): Buffer {
    const part = this.#piece.subarray(0, size);
    this.#piece = this.#piece.subarray(size);
    return part;
  }

  async #next(): Promise<boolean> {
    for (;;) {
      const next = await this.#source.next();
      if (next.done === true) return false;
      const { buffer, byteOffset, byteLength } = next.value;
      this.#piece = Buffer.from(buffer, byteOffset, byteLength);
      if (byteLength > 0) return true;
    }
  }
}
