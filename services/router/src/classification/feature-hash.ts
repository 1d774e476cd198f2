/** A seeded FNV-1a hash of text into buckets, letter by letter, so that all beginnings of a text cost one pass. */

/** The model has one row of weights for each bucket. */
export const BUCKETS = 1 << 16;

const PRIME = 0x01000193;

export function hashStart(seed: number): number {
  return Math.imul(seed ^ 0x811c9dc5, PRIME);
}

export function hashNext(state: number, code: number): number {
  return Math.imul(state ^ code, PRIME);
}

export function hashBucket(state: number): number {
  const mixed = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  return ((mixed ^ (mixed >>> 12)) >>> 0) & (BUCKETS - 1);
}

export function bucketOf(text: string, seed: number): number {
  let state = hashStart(seed);
  for (let i = 0; i < text.length; i += 1) state = hashNext(state, text.charCodeAt(i));
  return hashBucket(state);
}
