/**
 * A bounded memory of what was seen of late: two maps, of which the older one is dropped when the newer one is full.
 * So nothing is moved or searched for when room is needed. A plain Map whose first entry is deleted each time walks over
 * the holes of all that were deleted before.
 *
 * Invariants:
 *   GN1 The last `least` entries are remembered, and never more than twice as many.
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
