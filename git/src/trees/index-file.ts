/**
 * Writes git's index (version 2) for a tree that was laid out from its canonical tar.
 *
 * Each entry has the size of its file and the one time of all files of that tar. With `core.checkStat=minimal` and
 * `core.trustctime=false` git compares nothing else, so the first `git status` reads no file. A file that was written
 * later has another time and is read.
 */
import { createHash } from "node:crypto";
import type { ObjectFormat } from "../objects/git-object.ts";
import { encodePath } from "../objects/git-path.ts";
import { FILE_TIME_S } from "./tar.ts";

export interface IndexEntry {
  path: string;
  /** Git's octal text. */
  mode: string;
  id: string;
  /** Bytes of the file as it was laid out. */
  size: number;
}

const FIXED_BYTES = 40;
const MTIME_AT = 8;
const MODE_AT = 24;
const SIZE_AT = 36;
const NAME_LENGTH_MASK = 0xfff;

/** @param entries in git's order, as `ls-tree -r` lists them */
export function writeIndexFile(format: ObjectFormat, entries: readonly IndexEntry[]): Buffer {
  const header = Buffer.alloc(12);
  header.write("DIRC", 0, "latin1");
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(entries.length, 8);
  const parts: Buffer[] = [header];
  for (const entry of entries) parts.push(indexRow(entry));
  const hash = createHash(format);
  for (const part of parts) hash.update(part);
  parts.push(hash.digest());
  return Buffer.concat(parts);
}

function indexRow({ path, mode, id, size }: IndexEntry): Buffer {
  const name = encodePath(path);
  const idBytes = id.length / 2;
  const used = FIXED_BYTES + idBytes + 2 + name.length;
  // One to eight NUL bytes fill the row to a multiple of eight.
  const row = Buffer.alloc(used + 8 - (used % 8));
  row.writeUInt32BE(FILE_TIME_S, MTIME_AT);
  row.writeUInt32BE(plainMode(mode), MODE_AT);
  row.writeUInt32BE(size % 2 ** 32, SIZE_AT);
  row.write(id, FIXED_BYTES, "hex");
  row.writeUInt16BE(Math.min(name.length, NAME_LENGTH_MASK), FIXED_BYTES + idBytes);
  name.copy(row, FIXED_BYTES + idBytes + 2);
  return row;
}

/** Very old trees hold modes such as 100664, which an index cannot. */
function plainMode(mode: string): number {
  const octal = Number.parseInt(mode, 8);
  const isFile = (octal & 0o170000) === 0o100000;
  return isFile ? 0o100000 | ((octal & 0o111) === 0 ? 0o644 : 0o755) : octal;
}
