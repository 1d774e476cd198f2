/**
 * A bounded memory of recent entries: at least the last `least` of them, and never more than twice as many. It consists
 * of two maps; when the newer one is full, the older one is dropped, so making room moves or searches nothing. A plain
 * Map whose first entry is deleted each time would walk over the holes of all earlier deletions.
 *
 * lru-cache serves elsewhere. It reserves room for all entries when it is made, 220 KB for 10,000 of them, which would add
 * 1.5 MB to each idle process and a millisecond to the start of each such memory.
 */
export class Generations<V> {
  private newer = new Map<string, V>();
  private older = new Map<string, V>();
  private readonly least: number;

  constructor(least: number) {
    this.least = least;
  }

  get(key: string): V | undefined {
    return this.newer.get(key) ?? this.older.get(key);
  }

  has(key: string): boolean {
    return this.newer.has(key) || this.older.has(key);
  }

  set(key: string, value: V): void {
    if (this.newer.size >= this.least) {
      this.older = this.newer;
      this.newer = new Map();
    }
    this.newer.set(key, value);
  }

  get size(): number {
    return this.newer.size + this.older.size;
  }
}
