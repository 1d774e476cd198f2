/**
 * Reads a tar archive from an untrusted source as a stream. Nothing is ever extracted.
 *
 * It understands ustar, GNU long names (`L`, `K`) and the pax keys path, linkpath and size. Everything else either has no
 * meaning here (owner, times) or is refused by a named rule.
 *
 * Lifecycle: push chunks, then finish. The sink gets `entry`, `data`* and `end` for each entry in order.
 *
 * Every number is checked before it is used; sizes are plain octal up to 8 GiB. At most one header block and one
 * extension (64 KiB) are held in memory. An archive that stops early is refused, never taken as a shorter one.
 */
import { Refusal } from "./refusal.ts";

export type EntryType = "file" | "directory" | "symlink" | "hardlink" | "character" | "block" | "fifo";

export interface TarEntry {
  readonly path: string;
  readonly type: EntryType;
  readonly mode: number;
  readonly size: number;
  /** Target of a link, else "". */
  readonly link: string;
  /** Seconds since the epoch; 0 where the header has none that is plain octal. */
  readonly mtimeS: number;
}

export interface TarSink {
  entry(entry: TarEntry): void;
  data(piece: Buffer): void;
  end(): void;
}

const BLOCK = 512;
const NOTHING = Buffer.alloc(0);
const MAX_EXTENSION_BYTES = 64 * 1024;
const TYPES: Readonly<Record<string, EntryType>> = {
  "0": "file",
  "\0": "file",
  "7": "file",
  "1": "hardlink",
  "2": "symlink",
  "3": "character",
  "4": "block",
  "5": "directory",
  "6": "fifo",
};
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** The kind of the next bytes. */
type Phase =
  | { readonly at: "header" }
  | { readonly at: "data"; left: number; padding: number }
  | { readonly at: "extension"; readonly kind: string; left: number; padding: number; pieces: Buffer[] }
  | { readonly at: "padding"; left: number }
  | { readonly at: "over" };

/** The content of the extension headers before an entry. */
interface Extended {
  path?: string;
  link?: string;
  size?: number;
}

export class TarReader {
  readonly #sink: TarSink;
  #phase: Phase = { at: "header" };
  #partial: Buffer = NOTHING;
  #extended: Extended = {};
  #zeroBlocks = 0;

  constructor(sink: TarSink) {
    this.#sink = sink;
  }

  push(chunk: Buffer): void {
    let bytes = chunk;
    while (bytes.length > 0) {
      const phase = this.#phase;
      if (phase.at === "over") return; // bytes after the end mark are padding
      if (phase.at === "header") {
        const held = this.#partial.length;
        const needed = BLOCK - held;
        const fresh = bytes.subarray(0, needed);
        const block = held === 0 && fresh.length === BLOCK ? fresh : Buffer.concat([this.#partial, fresh]);
        bytes = bytes.subarray(needed);
        this.#partial = block.length < BLOCK ? block : NOTHING;
        if (block.length === BLOCK) this.#header(block);
        continue;
      }
      const piece = bytes.subarray(0, phase.left);
      bytes = bytes.subarray(piece.length);
      phase.left -= piece.length;
      if (phase.at === "data") this.#sink.data(piece);
      if (phase.at === "extension") phase.pieces.push(Buffer.from(piece));
      if (phase.left === 0) this.#leave(phase);
    }
  }

  finish(): void {
    const clean = this.#phase.at === "over" || (this.#phase.at === "header" && this.#partial.length === 0);
    if (!clean) throw new Refusal("tar-truncated", this.#phase.at); // sandbox-runner/S5
    if (this.#zeroBlocks === 0 && this.#phase.at !== "over")
      throw new Refusal("tar-truncated", "no end mark");
  }

  #leave(phase: Exclude<Phase, { at: "header" | "over" }>): void {
    if (phase.at === "data") this.#sink.end();
    if (phase.at === "extension") this.#extend(phase.kind, Buffer.concat(phase.pieces));
    const padding = phase.at === "padding" ? 0 : phase.padding;
    this.#phase = padding > 0 ? { at: "padding", left: padding } : { at: "header" };
  }

  #header(block: Buffer): void {
    if (block[0] === 0 && block.every((byte) => byte === 0)) {
      this.#zeroBlocks += 1;
      if (this.#zeroBlocks === 2) this.#phase = { at: "over" };
      return;
    }
    if (this.#zeroBlocks > 0 || !checksumHolds(block)) throw new Refusal("tar-header", printable(block));
    const kind = String.fromCharCode(block[156] ?? 0);
    const size = octal(block, 124, 12); // sandbox-runner/S5
    const padding = (BLOCK - (size % BLOCK)) % BLOCK;
    if (kind === "L" || kind === "K" || kind === "x" || kind === "g") {
      if (size === 0 || size > MAX_EXTENSION_BYTES) throw new Refusal("tar-extension", printable(block));
      this.#phase = { at: "extension", kind, left: size, padding, pieces: [] };
      return;
    }
    if (kind === "S") throw new Refusal("type-sparse", printable(block));
    const type = TYPES[kind];
    if (type === undefined) throw new Refusal("type-unknown", printable(block));
    this.#enter(block, type, size);
  }

  #enter(block: Buffer, type: EntryType, announced: number): void {
    const extended = this.#extended;
    this.#extended = {};
    const path = extended.path ?? nameOf(block);
    const size = extended.size ?? announced;
    // Only a file has a body. If another entry announces one, two readers could disagree about the rest.
    if (type !== "file" && size !== 0) throw new Refusal("tar-header", path);
    const link = extended.link ?? (block[157] === 0 ? "" : text(field(block, 157, 100)));
    this.#sink.entry({ path, type, mode: octal(block, 100, 8), size, link, mtimeS: timeOf(block) });
    if (size > 0) this.#phase = { at: "data", left: size, padding: (BLOCK - (size % BLOCK)) % BLOCK };
    else this.#sink.end();
  }

  #extend(kind: string, bytes: Buffer): void {
    if (kind === "L") this.#extended.path = text(untilNul(bytes));
    else if (kind === "K") this.#extended.link = text(untilNul(bytes));
    else {
      for (const [key, value] of paxRecords(bytes)) this.#paxKey(kind, key, value);
    }
  }

  #paxKey(kind: string, key: string, value: string): void {
    if (key.startsWith("GNU.sparse")) throw new Refusal("type-sparse", key);
    const hasMeaning = key === "path" || key === "linkpath" || key === "size" || key === "hdrcharset";
    if (!hasMeaning) return;
    if (kind === "g" || key === "hdrcharset") throw new Refusal("tar-extension", key);
    if (key === "path") this.#extended.path = value;
    else if (key === "linkpath") this.#extended.link = value;
    else if (/^\d{1,10}$/.test(value)) this.#extended.size = Number(value);
    else throw new Refusal("tar-number", value);
  }
}

function* paxRecords(bytes: Buffer): Generator<readonly [string, string]> {
  let at = 0;
  while (at < bytes.length) {
    const space = bytes.indexOf(0x20, at);
    const digits = space < 0 ? "" : bytes.toString("latin1", at, space);
    const length = /^\d{1,6}$/.test(digits) ? Number(digits) : 0;
    const end = at + length;
    const equals = bytes.indexOf(0x3d, space);
    const whole = length > digits.length + 2 && end <= bytes.length && bytes[end - 1] === 0x0a;
    if (!whole || equals < 0 || equals >= end) throw new Refusal("tar-extension", printable(bytes));
    yield [text(bytes.subarray(space + 1, equals)), text(bytes.subarray(equals + 1, end - 1))];
    at = end;
  }
}

/** GNU's magic reuses the prefix area for other things, so only ustar's prefix counts. */
function nameOf(block: Buffer): string {
  const name = text(field(block, 0, 100));
  if (block[345] === 0 || block.toString("latin1", 257, 263) !== "ustar\0") return name;
  return `${text(field(block, 345, 155))}/${name}`;
}

function field(block: Buffer, at: number, length: number): Buffer {
  return untilNul(block.subarray(at, at + length));
}

function isAscii(bytes: Buffer): boolean {
  for (let i = 0; i < bytes.length; i += 1) if ((bytes[i] ?? 0) > 0x7f) return false;
  return true;
}

function untilNul(bytes: Buffer): Buffer {
  const nul = bytes.indexOf(0);
  return nul < 0 ? bytes : bytes.subarray(0, nul);
}

function text(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString("latin1"); // nearly all names, and much faster
  try {
    return strictUtf8.decode(bytes);
  } catch {
    throw new Refusal("path-text", bytes.toString("latin1"));
  }
}

/** Accepts octal digits with blanks around them, then NUL or the end of the field. Anything else is refused. */
function octal(block: Buffer, at: number, length: number): number {
  let value = 0;
  let ended = false;
  for (let i = at; i < at + length; i += 1) {
    const byte = block[i] ?? 0;
    if (byte === 0) break;
    const isBlank = byte === 0x20;
    const isDigit = byte >= 0x30 && byte <= 0x37;
    if (isDigit && !ended) value = value * 8 + byte - 0x30;
    else if (!isBlank) throw new Refusal("tar-number", printable(block));
    if (isBlank && value > 0) ended = true;
  }
  return value;
}

/** A time is only carried along, so one in another form is no reason to refuse the entry. */
function timeOf(block: Buffer): number {
  const digits = /^[0-7]{1,11}/.exec(block.toString("latin1", 136, 148).trimStart());
  return digits === null ? 0 : Number.parseInt(digits[0], 8);
}

function checksumHolds(block: Buffer): boolean {
  let sum = 8 * 0x20; // the checksum's own field counts as spaces
  for (let i = 0; i < BLOCK; i += 1) if (i < 148 || i >= 156) sum += block[i] ?? 0;
  return octal(block, 148, 8) === sum;
}

function printable(block: Buffer): string {
  return untilNul(block.subarray(0, 100)).toString("latin1");
}
