import { LRUCache } from "lru-cache";

/** Values that are made once for a key and kept, those that were not asked for the longest leaving first. */
export class Remembered<T> {
  readonly #known: LRUCache<string, Promise<T>>;

  constructor(most: number) {
    this.#known = new LRUCache({ max: most });
  }

  /** Makes the value once, and again only if making it failed. */
  get(key: string, make: () => Promise<T>): Promise<T> {
    const before = this.#known.get(key);
    if (before !== undefined) return before;
    const making = make();
    this.#known.set(key, making);
    making.catch(() => this.#known.delete(key));
    return making;
  }
}
