/**
 * Writes a git pack without deltas, one entry per object. A pack on stdin (`index-pack`, `unpack-objects`) is the
 * cheapest way to add many objects: it takes one process, and git computes each id itself, so a wrong id cannot get in.
 */
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import type { GitObject, ObjectFormat, ObjectKind } from "./git-object.ts";

const KIND_NUMBER: Readonly<Record<ObjectKind, number>> = { commit: 1, tree: 2, blob: 3 };
const STORED_BLOCK = 65_535;
const ADLER_MODULUS = 65_521;

/** `stored` skips compression, for a local cache that is read once or twice; `deflated` is for a user's repository. */
type PackEncoding = "stored" | "deflated";

export function writePack(
  format: ObjectFormat,
  objects: readonly GitObject[],
  encoding: PackEncoding,
): Buffer {
  const header = Buffer.alloc(12);
  header.write("PACK", 0, "latin1");
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(objects.length, 8);
  const parts: Buffer[] = [header];
  for (const object of objects) {
    parts.push(entryHeader(object.kind, object.body.length));
    if (encoding === "deflated") parts.push(deflateSync(object.body));
    else parts.push(...stored(object.body));
  }
  const hash = createHash(format);
  for (const part of parts) hash.update(part);
  parts.push(hash.digest());
  return Buffer.concat(parts);
}

function entryHeader(kind: ObjectKind, size: number): Buffer {
  const bytes: number[] = [];
  let first = (KIND_NUMBER[kind] << 4) | (size & 15);
  let rest = Math.floor(size / 16);
  while (rest > 0) {
    bytes.push(first | 0x80);
    first = rest & 0x7f;
    rest = Math.floor(rest / 128);
  }
  bytes.push(first);
  return Buffer.from(bytes);
}

/** A zlib stream of stored blocks, equal to deflate level 0, without the cost of a compressor per object. */
function stored(body: Buffer): Buffer[] {
  const parts: Buffer[] = [Buffer.from([0x78, 0x01])];
  let at = 0;
  do {
    const length = Math.min(STORED_BLOCK, body.length - at);
    const block = Buffer.alloc(5);
    block[0] = at + length >= body.length ? 1 : 0;
    block.writeUInt16LE(length, 1);
    block.writeUInt16LE(length ^ 0xffff, 3);
    parts.push(block, body.subarray(at, at + length));
    at += length;
  } while (at < body.length);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(adler32(body));
  parts.push(checksum);
  return parts;
}

function adler32(body: Buffer): number {
  let low = 1;
  let high = 0;
  for (let at = 0; at < body.length;) {
    // 3,800 additions stay far below 2^53, so the loop needs no division per byte.
    const end = Math.min(at + 3800, body.length);
    for (; at < end; at += 1) {
      low += body[at] as number;
      high += low;
    }
    low %= ADLER_MODULUS;
    high %= ADLER_MODULUS;
  }
  return high * 65_536 + low;
}
