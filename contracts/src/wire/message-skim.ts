/**
 * A look at MessagePack before it is decoded: the package makes a list as long as a header says before it has seen one
 * of its items, so a header of three bytes costs half a megabyte, and lists may stand in lists.
 *
 * Invariants:
 *  MS1 All lists and maps together announce no more values than the message has bytes: each value takes one at least.
 *  MS2 Nesting is bounded, and counted without recursion.
 */
import { AntiphonError } from "../errors.ts";

/** Bytes that follow the first one of a value of fixed size, by that first byte (0xc0 to 0xd8). */
const FIXED: Readonly<Record<number, number>> = {
  ...{ 0xc0: 0, 0xc2: 0, 0xc3: 0, 0xca: 4, 0xcb: 8, 0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8 },
  ...{ 0xd0: 1, 0xd1: 2, 0xd2: 4, 0xd3: 8, 0xd4: 2, 0xd5: 3, 0xd6: 5, 0xd7: 9, 0xd8: 17 },
};
/** Those whose length follows: how many bytes it takes, and what comes beside the content. */
const SIZED: Readonly<Record<number, readonly [width: number, beside: number]>> = {
  ...{ 0xc4: [1, 0], 0xc5: [2, 0], 0xc6: [4, 0], 0xc7: [1, 1], 0xc8: [2, 1], 0xc9: [4, 1] },
  ...{ 0xd9: [1, 0], 0xda: [2, 0], 0xdb: [4, 0] },
};

/** Ends without a word where bytes are missing or mean nothing: the decoder says what is wrong with them. */
export function refuseBomb(bytes: Uint8Array, maxDepth: number): void {
  let announced = 0;
  /** Values still to come at each level. */
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
      if (announced > bytes.length) throw refused(`${announced} values announced in ${bytes.length} bytes`); // MS1
      if (items.count > 0) {
        left.push(items.count + 1);
        if (left.length > maxDepth) throw refused(`deeper than ${maxDepth} levels`); // MS2
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

/** Values in a list, or keys and values in a map; null for anything else. */
function itemsOf(bytes: Uint8Array, at: number, first: number): { header: number; count: number } | null {
  if (first >= 0x80 && first <= 0x8f) return { header: 1, count: 2 * (first & 0x0f) };
  if (first >= 0x90 && first <= 0x9f) return { header: 1, count: first & 0x0f };
  if (first < 0xdc || first > 0xdf) return null;
  const width = first === 0xdc || first === 0xde ? 2 : 4;
  const count = numberAt(bytes, at + 1, width);
  return { header: 1 + width, count: first >= 0xde ? 2 * count : count };
}

/** Of a value that holds no others; null for a byte that begins none. */
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
