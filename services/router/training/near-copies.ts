/** Pairs of requests that are nearly the same text, by the 5-letter pieces they share. */

const PIECE = 5;

function piecesOf(text: string): Set<string> {
  const plain = text.toLowerCase().replace(/\s+/g, " ").trim();
  const pieces = new Set<string>([plain.slice(0, PIECE)]);
  for (let at = 1; at + PIECE <= plain.length; at += 1) pieces.add(plain.slice(at, at + PIECE));
  return pieces;
}

export type NearCopy = { readonly left: number; readonly right: number; readonly alike: number };

/** Pairs of which at least `alike` (0..1) of all pieces are in both. Indices into the two lists. */
export function nearCopies(lefts: readonly string[], rights: readonly string[], alike: number): NearCopy[] {
  const places = new Map<string, number[]>();
  const leftPieces = lefts.map(piecesOf);
  for (const [left, pieces] of leftPieces.entries()) {
    for (const piece of pieces) places.set(piece, [...(places.get(piece) ?? []), left]);
  }
  return rights.flatMap((text, right) => {
    const pieces = piecesOf(text);
    const common = new Map<number, number>();
    for (const piece of pieces) {
      for (const left of places.get(piece) ?? []) common.set(left, (common.get(left) ?? 0) + 1);
    }
    return [...common].flatMap(([left, count]) => {
      const share = count / (pieces.size + (leftPieces[left]?.size ?? 0) - count);
      return share >= alike ? [{ left, right, alike: share }] : [];
    });
  });
}
