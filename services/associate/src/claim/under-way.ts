/**
 * The attempts that this process works on. A dispatch that comes again to the process that works on it is left to the work under
 * way: it keeps no second slot for the rest of the attempt.
 */
export class UnderWay {
  readonly #keys = new Set<string>();

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  /** Null: the work of this key is under way, so `work` is not called. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T | null> {
    if (this.#keys.has(key)) return null;
    this.#keys.add(key);
    try {
      return await work();
    } finally {
      this.#keys.delete(key);
    }
  }
}
