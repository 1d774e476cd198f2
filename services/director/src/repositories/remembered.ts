/** Values that are made once for a key and kept, those that were asked for first leaving first. */
export class Remembered<T> {
  readonly #known = new Map<string, Promise<T>>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Makes the value once, and again only if making it failed. */
  get(key: string, make: () => Promise<T>): Promise<T> {
    const before = this.#known.get(key);
    if (before !== undefined) return before;
    const making = make();
    this.#known.set(key, making);
    making.catch(() => this.#known.delete(key));
    const oldest = this.#known.keys().next();
    if (this.#known.size > this.#most && oldest.done !== true) this.#known.delete(oldest.value);
    return making;
  }
}
