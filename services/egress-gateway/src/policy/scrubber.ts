/**
 * Masks secrets in a byte stream with stars, in every form that can be told (secret-forms.ts) and through escapes
 * (escaped-text.ts), and keeps its length. A tail that could begin a secret is held back until the next chunk decides, so
 * it does not matter where the chunks break.
 */
import { PlainText } from "./escaped-text.ts";
import { formsOf } from "./secret-forms.ts";

const STAR = 0x2a;

type Range = readonly [from: number, to: number];

interface Reading {
  readonly text: string;
  readonly placeOf: (plain: number) => number;
  readonly rangeOf: (from: number, to: number) => Range;
  readonly begunAt: number;
}

export class Scrubber {
  readonly #forms: readonly string[];
  /** The same without white space, as they look in a text without it. */
  readonly #packed: readonly string[];
  #tail: Buffer = Buffer.alloc(0);
  /** Ranges of the tail that belong to a secret found already. */
  #masked: readonly Range[] = [];

  constructor(secrets: readonly string[]) {
    this.#forms = formsOf(secrets);
    this.#packed = [...new Set(this.#forms.map((form) => form.replace(/\s/g, "")))];
  }

  push(chunk: Buffer): Buffer {
    if (this.#forms.length === 0) return chunk;
    return this.#release(chunk, false);
  }

  end(): Buffer {
    return this.#forms.length === 0 ? Buffer.alloc(0) : this.#release(Buffer.alloc(0), true);
  }

  #release(chunk: Buffer, isEnd: boolean): Buffer {
    const bytes = Buffer.concat([this.#tail, chunk]);
    const raw = bytes.toString("latin1");
    const asItIs: Reading = {
      text: raw.toLowerCase(),
      placeOf: (place) => place,
      rangeOf: (from, to) => [from, to],
      begunAt: raw.length,
    };
    const plain = new PlainText(raw);
    const unescaped: Reading = {
      text: plain.text.toLowerCase(),
      placeOf: (place) => plain.placeOf(place),
      rangeOf: (from, to) => plain.rangeOf(from, to),
      begunAt: plain.begunAt,
    };
    const ranges = [...this.#masked, ...found(asItIs, this.#forms), ...found(unescaped, this.#packed)];
    const open = Math.min(openAt(asItIs, this.#forms), openAt(unescaped, this.#packed));
    const out = isEnd ? bytes.length : plain.borderAt(open); // egress-gateway/E2
    const clean = Buffer.from(bytes);
    for (const [from, to] of ranges) clean.fill(STAR, from, to);
    this.#tail = bytes.subarray(out);
    this.#masked = ranges.flatMap(([from, to]): Range[] =>
      to > out ? [[Math.max(0, from - out), to - out]] : [],
    );
    return clean.subarray(0, out);
  }
}

/** The ranges of bytes that hold one of the forms. */
function found({ text, rangeOf }: Reading, forms: readonly string[]): Range[] {
  const ranges: Range[] = [];
  for (const form of forms) {
    for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + 1))
      ranges.push(rangeOf(at, at + form.length));
  }
  return ranges;
}

/** Where the longest tail begins that could be the beginning of a form. */
function openAt({ text, placeOf, begunAt }: Reading, forms: readonly string[]): number {
  const longest = Math.min(text.length, Math.max(0, ...forms.map(({ length }) => length - 1)));
  for (let length = longest; length > 0; length -= 1) {
    const end = text.slice(text.length - length);
    if (forms.some((form) => form.length > length && form.startsWith(end)))
      return placeOf(text.length - length);
  }
  return begunAt;
}

export function scrubbed(text: string, secrets: readonly string[]): string {
  const scrubber = new Scrubber(secrets);
  return Buffer.concat([Buffer.from(scrubber.push(Buffer.from(text, "utf8"))), scrubber.end()]).toString(
    "utf8",
  );
}
