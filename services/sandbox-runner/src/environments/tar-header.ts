/**
 * Writes headers of a layer's tar: ustar with pax records for names that do not fit. Owner and group are zero, because
 * everything belongs to the sandbox's one user once it is unpacked. Pure.
 */
import type { KeptEntry } from "./layer-rules.ts";

const BLOCK = 512;
const TYPES: Readonly<Record<KeptEntry["type"], string>> = {
  file: "0",
  hardlink: "1",
  symlink: "2",
  directory: "5",
};
const NAME_BYTES = 100;

export const END_OF_TAR: Buffer = Buffer.alloc(2 * BLOCK);

export function entryHeader(entry: KeptEntry): Buffer {
  const name = Buffer.from(entry.type === "directory" ? `${entry.path}/` : entry.path, "utf8");
  const link = Buffer.from(entry.link, "utf8");
  const records = [
    ...(name.length > NAME_BYTES ? [paxRecord("path", name.toString("utf8"))] : []),
    ...(link.length > NAME_BYTES ? [paxRecord("linkpath", entry.link)] : []),
  ];
  const size = entry.type === "file" ? entry.size : 0;
  const own = block(TYPES[entry.type], { name, link, mode: entry.mode, size, mtimeS: entry.mtimeS });
  if (records.length === 0) return own;
  const pax = Buffer.concat(records);
  const facts = { name: Buffer.from("pax"), link: Buffer.alloc(0), mode: 0o644, mtimeS: 0 };
  return Buffer.concat([block("x", { ...facts, size: pax.length }), pax, padding(pax.length), own]);
}

/** The zeros between a body of `size` bytes and the next header. */
export function padding(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

interface Facts {
  readonly name: Buffer;
  readonly link: Buffer;
  readonly mode: number;
  readonly size: number;
  readonly mtimeS: number;
}

function block(type: string, { name, link, mode, size, mtimeS }: Facts): Buffer {
  const bytes = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void => {
    bytes.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at, "latin1");
  };
  name.copy(bytes, 0, 0, NAME_BYTES);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(mtimeS, 136, 12);
  bytes.write("        ", 148, "latin1");
  bytes.write(type, 156, "latin1");
  link.copy(bytes, 157, 0, NAME_BYTES);
  bytes.write("ustar\u000000", 257, "latin1");
  let sum = 0;
  for (let i = 0; i < BLOCK; i += 1) sum += bytes[i] ?? 0; // an iterator takes several times as long
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return bytes;
}

/** The record's length counts its own digits. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return Buffer.from(`${length} ${key}=${value}\n`, "utf8");
}
