/**
 * One output stream of a step: the head and the tail are kept, and every byte is counted.
 *
 * Promises:
 *   sandbox-runner/S10 Because untrusted code decides how much it prints and in what pieces, the runner holds at most
 *     `keepBytes` of each output stream and one frame of a bounded length, and pauses a sandbox whose reader is slow.
 */

export interface BoundedOutput {
  readonly produced: number;
  readonly truncated: boolean;
  /** Everything; or the head, a line that says how much is missing, and the tail. */
  readonly bytes: Buffer;
  /** The last bytes as UTF-8, for a report. */
  readonly tail: string;
}

export class OutputBound {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  #head: Buffer = Buffer.alloc(0);
  #headLength = 0;
  #ring: Buffer | null = null;
  #beyondHead = 0;
  #produced = 0;

  constructor(keepBytes: number) {
    this.#headBytes = Math.floor(keepBytes / 2);
    this.#tailBytes = keepBytes - this.#headBytes;
  }

  get produced(): number {
    return this.#produced;
  }

  push(chunk: Buffer): void {
    this.#produced += chunk.length;
    const forHead = Math.min(chunk.length, this.#headBytes - this.#headLength);
    if (forHead > 0) this.#pushHead(chunk.subarray(0, forHead));
    if (forHead < chunk.length) this.#pushTail(chunk.subarray(forHead));
  }

  finish(reportBytes = 2048): BoundedOutput {
    const head = this.#head.subarray(0, this.#headLength);
    const tail = this.#ringInOrder();
    const missing = this.#produced - head.length - tail.length;
    const note = missing > 0 ? `\n[... ${missing} bytes not kept ...]\n` : "";
    const bytes = Buffer.concat([head, Buffer.from(note, "utf8"), tail]);
    return { produced: this.#produced, truncated: missing > 0, bytes, tail: utf8Tail(bytes, reportBytes) };
  }

  #pushHead(piece: Buffer): void {
    const needed = this.#headLength + piece.length;
    if (needed > this.#head.length) {
      const grown = Buffer.alloc(Math.min(this.#headBytes, Math.max(needed, this.#head.length * 2, 4096)));
      this.#head.copy(grown, 0, 0, this.#headLength);
      this.#head = grown;
    }
    piece.copy(this.#head, this.#headLength);
    this.#headLength = needed;
  }

  #pushTail(bytes: Buffer): void {
    if (this.#tailBytes === 0) return;
    this.#ring ??= Buffer.alloc(this.#tailBytes); // sandbox-runner/S10
    const piece = bytes.subarray(Math.max(0, bytes.length - this.#tailBytes));
    const at = (this.#beyondHead + (bytes.length - piece.length)) % this.#tailBytes;
    const first = Math.min(piece.length, this.#tailBytes - at);
    piece.copy(this.#ring, at, 0, first);
    piece.copy(this.#ring, 0, first);
    this.#beyondHead += bytes.length;
  }

  #ringInOrder(): Buffer {
    if (this.#ring === null) return Buffer.alloc(0);
    if (this.#beyondHead <= this.#tailBytes) return this.#ring.subarray(0, this.#beyondHead);
    const at = this.#beyondHead % this.#tailBytes;
    return Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)]);
  }
}

/** The last `max` bytes as text. A character that is cut at the front is dropped, not replaced. */
export function utf8Tail(bytes: Buffer, max: number): string {
  let from = Math.max(0, bytes.length - max);
  if (from > 0) while (from < bytes.length && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return bytes.toString("utf8", from);
}
