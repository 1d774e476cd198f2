/** Pseudo-random numbers (mulberry32): the same seed gives the same faults. */
export interface Random {
  /** 0 <= x < 1. */
  next(): number;
  /** A whole number, 0 <= x < n. */
  below(n: number): number;
  pick<T>(items: readonly T[]): T;
}

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    below: (n) => Math.floor(next() * n),
    pick<T>(items: readonly T[]): T {
      const found = items[Math.floor(next() * items.length)];
      if (found === undefined) throw new Error("nothing to pick from");
      return found;
    },
  };
}
