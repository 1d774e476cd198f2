/**
 * Takes secrets out of a byte stream, wherever its chunks break. Lengths stay: a secret becomes as many stars.
 *
 * Invariants:
 *   C1  No needle leaves whole, however the stream is cut; a tail that could begin one is held back until it is known.
 */
const STAR = 0x2a;

export class Scrubber {
  readonly #needles: readonly Buffer[];
  readonly #keep: number;
  #tail: Buffer = Buffer.alloc(0);

  constructor(needles: readonly string[]) {
    this.#needles = needles.filter((needle) => needle !== "").map((needle) => Buffer.from(needle, "utf8"));
    this.#keep = Math.max(0, ...this.#needles.map(({ length }) => length - 1));
  }

  push(chunk: Buffer): Buffer {
    if (this.#needles.length === 0) return chunk;
    const bytes = starred(Buffer.concat([this.#tail, chunk]), this.#needles);
    const out = bytes.length - this.#open(bytes); // C1
    this.#tail = bytes.subarray(out);
    return bytes.subarray(0, out);
  }

  /** Length of the longest end of `bytes` that a needle begins with. */
  #open(bytes: Buffer): number {
    for (let length = Math.min(this.#keep, bytes.length); length > 0; length -= 1) {
      const end = bytes.subarray(bytes.length - length);
      if (this.#needles.some((needle) => needle.subarray(0, length).equals(end))) return length;
    }
    return 0;
  }

  end(): Buffer {
    const rest = this.#tail;
    this.#tail = Buffer.alloc(0);
    return rest;
  }
}

export function scrubbed(text: string, needles: readonly string[]): string {
  return needles.reduce(
    (clean, needle) => (needle === "" ? clean : clean.replaceAll(needle, "*".repeat(needle.length))),
    text,
  );
}

function starred(bytes: Buffer, needles: readonly Buffer[]): Buffer {
  for (const needle of needles) {
    for (let at = bytes.indexOf(needle); at >= 0; at = bytes.indexOf(needle, at + needle.length))
      bytes.fill(STAR, at, at + needle.length);
  }
  return bytes;
}
