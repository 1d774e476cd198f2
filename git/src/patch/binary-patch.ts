/**
 * Reads the body of a `GIT binary patch`: base85 lines, a zlib stream, a literal or a delta. Everything is decoded and
 * measured, because a few bytes of delta can make git allocate gigabytes.
 */
import { inflateSync } from "node:zlib";
import { refuse } from "./patch-refusal.ts";

interface BinaryBounds {
  /** Bound on the inflated part and on the resulting file. */
  maxBytes: number;
}

interface BinaryPart {
  /** Index of the line after the part's closing blank line. */
  next: number;
  /** Size of the resulting file. */
  bytes: number;
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const DIGITS = new Map([...ALPHABET].map((char, index) => [char.charCodeAt(0), index]));

/** `at` is the index of the `literal N` or `delta N` line. */
export function readBinaryPart(
  lines: readonly string[],
  at: number,
  path: string,
  bounds: BinaryBounds,
): BinaryPart {
  const head = /^(literal|delta) (0|[1-9][0-9]{0,11})$/.exec(lines[at] ?? "");
  if (head === null)
    refuse("ANT_PATCH_BINARY", "binary.header", "neither literal nor delta", { path, line: at + 1 });
  const declared = Number(head[2]);
  if (declared > bounds.maxBytes) {
    const message = `a binary part of ${declared} bytes; the bound is ${bounds.maxBytes}`;
    refuse("ANT_PATCH_TOO_LARGE", "binary.too-large", message, { path, line: at + 1 });
  }
  const chunks: Buffer[] = [];
  let next = at + 1;
  for (; ; next += 1) {
    const line = lines[next];
    if (line === undefined)
      refuse("ANT_PATCH_BINARY", "binary.truncated", "ends too early", { path, line: next });
    if (line === "") break;
    chunks.push(decodeLine(line, path, next + 1));
  }
  const data = inflate(Buffer.concat(chunks), declared, path, at + 1);
  const bytes = head[1] === "literal" ? data.length : deltaResult(data, path, at + 1);
  if (bytes > bounds.maxBytes) {
    const message = `makes a file of ${bytes} bytes; the bound is ${bounds.maxBytes}`;
    refuse("ANT_PATCH_TOO_LARGE", "binary.too-large", message, { path, line: at + 1 });
  }
  return { next: next + 1, bytes };
}

function decodeLine(line: string, path: string, number: number): Buffer {
  const bad = (): never => refuse("ANT_PATCH_BINARY", "binary.base85", "not base85", { path, line: number });
  const letter = line.charCodeAt(0);
  const length =
    letter >= 65 && letter <= 90 ? letter - 64 : letter >= 97 && letter <= 122 ? letter - 70 : bad();
  const groups = Math.ceil(length / 4);
  if (line.length !== 1 + groups * 5) bad();
  const bytes = Buffer.alloc(groups * 4);
  for (let group = 0; group < groups; group += 1) {
    let value = 0;
    for (let digit = 0; digit < 5; digit += 1) {
      value = value * 85 + (DIGITS.get(line.charCodeAt(1 + group * 5 + digit)) ?? bad());
    }
    if (value > 0xffff_ffff) bad();
    bytes.writeUInt32BE(value, group * 4);
  }
  return bytes.subarray(0, length);
}

function inflate(data: Buffer, declared: number, path: string, line: number): Buffer {
  let inflated: Buffer;
  try {
    inflated = inflateSync(data, { maxOutputLength: declared + 1 });
  } catch {
    return refuse("ANT_PATCH_BINARY", "binary.zlib", "does not inflate to its declared size", { path, line });
  }
  if (inflated.length !== declared) {
    refuse("ANT_PATCH_BINARY", "binary.size", "does not inflate to its declared size", { path, line });
  }
  return inflated;
}

/** A delta starts with the sizes of its source and result; its copies and inserts must add up to the result. */
function deltaResult(delta: Buffer, path: string, line: number): number {
  const bad = (): never =>
    refuse("ANT_PATCH_BINARY", "binary.delta", "the delta is malformed", { path, line });
  let at = 0;
  const byte = (): number => {
    const value = delta[at] ?? bad();
    at += 1;
    return value;
  };
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const next = byte();
      value += (next & 0x7f) * scale;
      if (value > Number.MAX_SAFE_INTEGER) bad();
      if ((next & 0x80) === 0) return value;
    }
  };
  const source = varint();
  const result = varint();
  let made = 0;
  while (at < delta.length) {
    const command = byte();
    if (command === 0) bad();
    if ((command & 0x80) === 0) {
      at += command;
      made += command;
      if (at > delta.length) bad();
      continue;
    }
    let offset = 0;
    let size = 0;
    for (let bit = 0; bit < 4; bit += 1) if (command & (1 << bit)) offset += byte() * 256 ** bit;
    for (let bit = 0; bit < 3; bit += 1) if (command & (16 << bit)) size += byte() * 256 ** bit;
    if (size === 0) size = 65_536;
    if (offset + size > source) bad();
    made += size;
  }
  return made === result ? result : bad();
}
