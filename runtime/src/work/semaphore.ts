/** Counts the messages that all loops of one consumer hold together. */
export class Semaphore {
  private readonly size: number;
  private readonly listeners: (() => void)[] = [];
  private held = 0;

  constructor(size: number) {
    this.size = size;
  }

  /** Called when a slot is free again. */
  onFree(listener: () => void): void {
    this.listeners.push(listener);
  }

  get free(): number {
    return this.size - this.held;
  }

  take(): boolean {
    if (this.held >= this.size) return false;
    this.held += 1;
    return true;
  }

  give(): void {
    this.held -= 1;
    for (const listener of this.listeners) listener();
  }
}
