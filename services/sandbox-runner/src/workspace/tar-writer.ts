/**
 * Writes Antiphon's canonical tar: ustar, regular files only, sorted by byte order of the path, owner and times zero,
 * modes 644 and 755, pax headers only for paths that do not fit. Equal files give equal bytes.
 */
import type { FileMode } from "@antiphon/contracts";

export interface WritableFile {
  readonly path: string;
  readonly mode: FileMode;
  readonly content: Buffer;
}

const BLOCK = 512;

/** @param timeS the time of every file, in seconds; zero for a tar that is stored */
export function canonicalTar(files: readonly WritableFile[], timeS = 0): Buffer {
  const parts: Buffer[] = [];
  for (const file of [...files].sort((a, b) => comparePaths(a.path, b.path))) {
    const name = Buffer.from(file.path, "utf8");
    if (name.length > 100) {
      const record = paxRecord("path", file.path);
      parts.push(header(Buffer.from("pax"), "x", 0o644, record.length, timeS), record, filler(record.length));
    }
    const mode = file.mode === "100755" ? 0o755 : 0o644;
    parts.push(header(name.subarray(0, 100), "0", mode, file.content.length, timeS));
    parts.push(file.content, filler(file.content.length));
  }
  parts.push(Buffer.alloc(2 * BLOCK));
  return Buffer.concat(parts);
}

/** Byte order of the UTF-8 form, which is also git's order. */
export function comparePaths(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a, "utf8"), Buffer.from(b, "utf8"));
}

function header(name: Buffer, type: string, mode: number, size: number, timeS: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  name.copy(block, 0);
  block.write(`${octalDigits(mode, 7)}\0`, 100, "latin1");
  block.write(`${octalDigits(0, 7)}\0${octalDigits(0, 7)}\0`, 108, "latin1");
  block.write(`${octalDigits(size, 11)}\0${octalDigits(timeS, 11)}\0`, 124, "latin1");
  block.write("        ", 148, "latin1");
  block.write(type, 156, "latin1");
  block.write("ustar\u000000", 257, "latin1");
  let sum = 0;
  for (const byte of block) sum += byte;
  block.write(`${octalDigits(sum, 6)}\0 `, 148, "latin1");
  return block;
}

function octalDigits(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

function filler(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

/** The record's length counts its own digits. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`, "utf8");
}
