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

  /** Like `get`, but a value that was made before and no longer holds is made again. */
  async holding(key: string, make: () => Promise<T>, holds: (value: T) => Promise<boolean>): Promise<T> {
    const before = this.#known.get(key);
    if (before === undefined) return this.get(key, make);
    const value = await before;
    if (await holds(value)) return value;
    if (this.#known.get(key) === before) this.#known.delete(key); // Else another caller has it made already.
    return this.get(key, make);
  }
}

/** Work that is done once for all who ask while it goes on. */
export class UnderWay<T> {
  readonly #under = new Map<string, Promise<T>>();

  during(key: string, work: () => Promise<T>): Promise<T> {
    const known = this.#under.get(key);
    if (known !== undefined) return known;
    const working = work().finally(() => this.#under.delete(key));
    this.#under.set(key, working);
    return working;
  }
}
