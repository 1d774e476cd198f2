/** Hostile inputs: repetition, nesting and near misses, made from the pieces that a parser searches for. */
import { isNight } from "../support/night.ts";
import type { Shape } from "./growth.ts";

/** Endings that break a match for a pattern that runs to the end of a line or text. */
const SPOILERS = ["", "x", "\u2028", "\n", "\0"];

const filled = (piece: string, size: number): string =>
  piece.repeat(Math.max(1, Math.floor(size / piece.length)));

const named = (name: string, make: Shape["make"]): Shape => ({
  name: JSON.stringify(name).slice(0, 80),
  make,
});

/**
 * Each piece repeated with each spoiler at the end, and each pair of pieces: alternating, one and then a run of the other, and as
 * two runs. At night each pair in all three forms, for each push in one of them.
 */
export function repeated(
  pieces: readonly string[],
  frame: (body: string) => string = (body) => body,
): Shape[] {
  const shapes: Shape[] = [];
  for (const [i, piece] of pieces.entries()) {
    for (const spoiler of SPOILERS) {
      shapes.push(named(`${piece}… ${spoiler}`, (size) => frame(filled(piece, size) + spoiler)));
    }
    for (const [j, other] of pieces.entries()) {
      if (other === piece) continue;
      const pair = [
        named(`${piece}${other}…`, (size) => frame(filled(piece + other, size))),
        named(`${piece} ${other}…`, (size) => frame(piece + filled(other, size))),
        named(`${piece}… ${other}…`, (size) => frame(filled(piece, size / 2) + filled(other, size / 2))),
      ];
      shapes.push(...(isNight ? pair : pair.slice((i + 2 * j) % 3).slice(0, 1)));
    }
  }
  return shapes;
}

/** Opening pieces repeated, with as many closing ones or none. */
export function nested(pairs: readonly (readonly [open: string, close: string])[], inner = "1"): Shape[] {
  return pairs.flatMap(([open, close]) => [
    { ...named(`${open}…`, (size) => filled(open, size)), isDeep: true },
    {
      ...named(`${open}… ${close}…`, (size) => {
        const depth = Math.max(1, Math.floor(size / (open.length + close.length)));
        return open.repeat(depth) + inner + close.repeat(depth);
      }),
      isDeep: true,
    },
  ]);
}

/** Numbered pieces, so that neither caches nor repetition make them cheap: `item(i)` until the size is reached. */
export function numbered(
  name: string,
  item: (index: number) => string,
  frame = (body: string): string => body,
): Shape {
  return named(name, (size) => {
    const pieces: string[] = [];
    for (let index = 0, length = 0; length < size; index += 1) {
      const piece = item(index);
      length += piece.length;
      pieces.push(piece);
    }
    return frame(pieces.join(""));
  });
}
