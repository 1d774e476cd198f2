/**
 * Checks MessagePack before it is decoded. The package allocates a list as long as its header says before it has seen an
 * item, so a header of three bytes costs half a megabyte, and lists may be nested.
 *
 * Each value takes at least one byte, so all lists and maps together may announce no more values than the message has
 * bytes. Nesting is bounded, and counted without recursion.
 */
import { AntiphonError } from "../errors.ts";

/** Bytes that follow the first one of a value of fixed size, by that first byte (0xc0 to 0xd8). */
const FIXED: Readonly<Record<number, number>> = {
  ...{ 0xc0: 0, 0xc2: 0, 0xc3: 0, 0xca: 4, 0xcb: 8, 0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8 },
  ...{ 0xd0: 1, 0xd1: 2, 0xd2: 4, 0xd3: 8, 0xd4: 2, 0xd5: 3, 0xd6: 5, 0xd7: 9, 0xd8: 17 },
};
/** Values whose length follows: the width of that length, and the extra bytes besides the content. */
const SIZED: Readonly<Record<number, readonly [width: number, beside: number]>> = {
  ...{ 0xc4: [1, 0], 0xc5: [2, 0], 0xc6: [4, 0], 0xc7: [1, 1], 0xc8: [2, 1], 0xc9: [4, 1] },
  ...{ 0xd9: [1, 0], 0xda: [2, 0], 0xdb: [4, 0] },
};

/** Returns silently if bytes are missing or invalid; the decoder then reports the fault. */
export function refuseBomb(bytes: Uint8Array, maxDepth: number): void {
  let announced = 0;
  /** Values still expected at each level. */
  const left: number[] = [];
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at] ?? 0;
    const items = itemsOf(bytes, at, first);
    if (items === null) {
      const length = lengthOf(bytes, at, first);
      if (length === null) return;
      at += length;
    } else {
      at += items.header;
      announced += items.count;
      if (announced > bytes.length) throw refused(`${announced} values announced in ${bytes.length} bytes`); // contracts/C2
      if (items.count > 0) {
        left.push(items.count + 1);
        if (left.length > maxDepth) throw refused(`deeper than ${maxDepth} levels`); // contracts/C2
      }
    }
    for (let level = left.length - 1; level >= 0; level -= 1) {
      left[level] = (left[level] ?? 0) - 1;
      if ((left[level] ?? 0) > 0) break;
      left.pop();
    }
  }
}

const refused = (why: string): AntiphonError =>
  new AntiphonError("ANT_CONTRACT_LIMIT", `MessagePack with ${why}`);

/** Values of a list, or keys and values of a map; null for anything else. */
function itemsOf(bytes: Uint8Array, at: number, first: number): { header: number; count: number } | null {
  if (first >= 0x80 && first <= 0x8f) return { header: 1, count: 2 * (first & 0x0f) };
  if (first >= 0x90 && first <= 0x9f) return { header: 1, count: first & 0x0f };
  if (first < 0xdc || first > 0xdf) return null;
  const width = first === 0xdc || first === 0xde ? 2 : 4;
  const count = numberAt(bytes, at + 1, width);
  return { header: 1 + width, count: first >= 0xde ? 2 * count : count };
}

/** Length of a value that contains no others; null for a byte that begins no value. */
function lengthOf(bytes: Uint8Array, at: number, first: number): number | null {
  if (first < 0x80 || first >= 0xe0) return 1;
  if (first >= 0xa0 && first <= 0xbf) return 1 + (first & 0x1f);
  const sized = SIZED[first];
  if (sized !== undefined) return 1 + sized[0] + sized[1] + numberAt(bytes, at + 1, sized[0]);
  const fixed = FIXED[first];
  return fixed === undefined ? null : 1 + fixed;
}

function numberAt(bytes: Uint8Array, at: number, width: number): number {
  let value = 0;
  for (let i = 0; i < width; i += 1) value = value * 256 + (bytes[at + i] ?? 0);
  return value;
}
