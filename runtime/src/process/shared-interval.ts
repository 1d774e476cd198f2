/**
 * One interval for all operations of a process that look at something regularly. It runs only while there are any. An
 * operation that lasts milliseconds would otherwise pay for a timer of its own that never fires.
 */
export class SharedInterval {
  readonly #everyMs: number;
  readonly #ticks = new Set<() => void>();
  #timer: NodeJS.Timeout | null = null;

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** Calls `tick` at every tick from the next one on; returns how to stop that. */
  add(tick: () => void): () => void {
    const call = (): void => tick();
    this.#ticks.add(call);
    this.#timer ??= setInterval(() => {
      for (const each of this.#ticks) each();
    }, this.#everyMs);
    return () => this.#remove(call);
  }

  #remove(tick: () => void): void {
    this.#ticks.delete(tick);
    if (this.#ticks.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}
