/**
 * Masks secrets in a byte stream with stars, and keeps its length. A tail that could begin a secret is held back until the
 * next chunk decides, so it does not matter where the chunks break.
 */
const STAR = 0x2a;

export class Scrubber {
  readonly #secrets: readonly Buffer[];
  readonly #keep: number;
  #tail: Buffer = Buffer.alloc(0);

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.filter((secret) => secret !== "").map((secret) => Buffer.from(secret, "utf8"));
    this.#keep = Math.max(0, ...this.#secrets.map(({ length }) => length - 1));
  }

  push(chunk: Buffer): Buffer {
    if (this.#secrets.length === 0) return chunk;
    const bytes = starred(Buffer.concat([this.#tail, chunk]), this.#secrets);
    const out = bytes.length - this.#open(bytes); // egress-gateway/E2
    this.#tail = bytes.subarray(out);
    return bytes.subarray(0, out);
  }

  /** Length of the longest tail of `bytes` that a secret begins with. */
  #open(bytes: Buffer): number {
    for (let length = Math.min(this.#keep, bytes.length); length > 0; length -= 1) {
      const end = bytes.subarray(bytes.length - length);
      if (this.#secrets.some((secret) => secret.subarray(0, length).equals(end))) return length;
    }
    return 0;
  }

  end(): Buffer {
    const rest = this.#tail;
    this.#tail = Buffer.alloc(0);
    return rest;
  }
}

export function scrubbed(text: string, secrets: readonly string[]): string {
  return secrets.reduce(
    (clean, secret) => (secret === "" ? clean : clean.replaceAll(secret, "*".repeat(secret.length))),
    text,
  );
}

function starred(bytes: Buffer, secrets: readonly Buffer[]): Buffer {
  for (const secret of secrets) {
    for (let at = bytes.indexOf(secret); at >= 0; at = bytes.indexOf(secret, at + secret.length))
      bytes.fill(STAR, at, at + secret.length);
  }
  return bytes;
}
