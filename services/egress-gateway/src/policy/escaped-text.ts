/**
 * Text without its escapes, with the way back to the bytes. Pure.
 *
 * Undone are: percent-encoding, also of itself; escapes of JSON, JavaScript and C; numbers of HTML; zero bytes, which
 * UTF-16 puts between ASCII characters; and white space, which wraps long lines.
 */
const ESCAPE =
  /%(?:25){0,3}([0-9a-f]{2})|\\{1,4}u(?:00([0-9a-f]{2})|\{0{0,4}([0-9a-f]{2})\})|\\{1,4}x([0-9a-f]{2})|&#x0{0,4}([0-9a-f]{2});|&#0{0,4}(\d{2,3});|\\{1,4}([0-7]{3})|\\{1,4}(["'/])/iy;

const [ITSELF, GAP, BEGINS] = [0, 1, 2];
/**
 * The kind of each byte: itself, a gap, or the possible beginning of an escape. Most texts are words and gaps, and
 * every byte of an answer passes here, so the expression is asked only where an escape may begin.
 */
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => {
  const char = String.fromCharCode(byte);
  if (/[\s\0]/.test(char)) return GAP;
  return "%\\&".includes(char) ? BEGINS : ITSELF;
});

/** The beginning of an escape at the end of a text; the longest has 14 characters. */
const BEGUN =
  /^(?:%(?:25){0,3}2?[0-9a-f]?|\\{1,4}(?:u(?:[0-9a-f]{0,3}|\{[0-9a-f]{0,6})?|x[0-9a-f]?|[0-7]{0,2})|&(?:#(?:x?[0-9a-f]{0,6})?)?)$/i;
const LONGEST_ESCAPE = 14;

interface Piece {
  /** Where it begins in the plain text, and in the escaped one. */
  readonly plain: number;
  readonly at: number;
  /** Of the escaped text. An escape is one character of the plain text, or none. */
  readonly length: number;
  readonly isEscape: boolean;
}

export class PlainText {
  readonly text: string;
  /** Where the text begins an escape that has no end yet, or its length. */
  readonly begunAt: number;
  readonly #pieces: Piece[] = [];

  /** @param escaped one character for each byte */
  constructor(escaped: string) {
    const text = Buffer.allocUnsafe(escaped.length);
    let [last, plain] = [0, 0];
    const keep = (to: number): void => {
      const length = to - last;
      if (length > 0) this.#pieces.push({ plain: plain - length, at: last, length, isEscape: false });
    };
    this.begunAt = begunAt(escaped);
    let at = 0;
    while (at < this.begunAt) {
      const byte = escaped.charCodeAt(at);
      const kind = KINDS[byte];
      const match = kind === BEGINS ? escapeAt(escaped, at) : null;
      if (kind === GAP || match !== null) {
        keep(at);
        const length = match?.[0].length ?? 1;
        this.#pieces.push({ plain, at, length, isEscape: true });
        if (match !== null) text[plain++] = characterOf(match);
        at += length;
        last = at;
      } else {
        text[plain++] = byte;
        at += 1;
      }
    }
    keep(this.begunAt);
    this.text = text.toString("latin1", 0, plain);
  }

  /** Where the escaped form of a range of the plain text begins and ends. */
  rangeOf(from: number, to: number): readonly [from: number, to: number] {
    const last = this.#last((piece) => piece.plain < to);
    if (last === null) return [this.placeOf(from), to];
    return [this.placeOf(from), last.isEscape ? last.at + last.length : last.at + to - last.plain];
  }

  /** Where the escaped form of a character of the plain text begins. */
  placeOf(plain: number): number {
    if (plain >= this.text.length) return this.begunAt;
    const piece = this.#last((one) => one.plain <= plain);
    if (piece === null) return plain;
    return piece.isEscape ? piece.at : piece.at + plain - piece.plain;
  }

  /** The nearest place at or before one that is not inside an escape. */
  borderAt(place: number): number {
    const piece = this.#last((one) => one.at <= place);
    return piece?.isEscape === true && place < this.begunAt ? piece.at : Math.min(place, this.begunAt);
  }

  /** The last of the leading pieces for which `holds`. */
  #last(holds: (piece: Piece) => boolean): Piece | null {
    let [low, high] = [-1, this.#pieces.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const piece = this.#pieces[middle];
      if (piece !== undefined && holds(piece)) low = middle;
      else high = middle - 1;
    }
    return this.#pieces[low] ?? null;
  }
}

function begunAt(escaped: string): number {
  for (let at = Math.max(0, escaped.length - LONGEST_ESCAPE); at < escaped.length; at += 1)
    if (BEGUN.test(escaped.slice(at))) return at;
  return escaped.length;
}

function escapeAt(escaped: string, at: number): RegExpExecArray | null {
  ESCAPE.lastIndex = at;
  return ESCAPE.exec(escaped);
}

function characterOf([, percent, u, braced, x, hex, decimal, octal, itself = ""]: RegExpExecArray): number {
  const sixteen = percent ?? u ?? braced ?? x ?? hex;
  if (sixteen !== undefined) return Number.parseInt(sixteen, 16);
  if (decimal !== undefined) return Number(decimal) & 0xff;
  if (octal !== undefined) return Number.parseInt(octal, 8) & 0xff;
  return itself.charCodeAt(0);
}
