/** Slots, and ready sandboxes, that a job leaves to others when nobody waits for it. */
export const LEFT_BY_SPARE = 1;

/** How many sandboxes may be in use at once. */
export class Slots {
  readonly most: number;
  #taken = 0;
  readonly #onIdle: (() => void)[] = [];

  constructor(most: number) {
    this.most = most;
  }

  get taken(): number {
    return this.#taken;
  }

  /** False when all slots are taken. @param leave free slots that have to be left */
  take(leave = 0): boolean {
    if (this.#taken + leave >= this.most) return false;
    this.#taken += 1;
    return true;
  }

  give(): void {
    this.#taken -= 1;
    if (this.#taken === 0) for (const idle of this.#onIdle.splice(0)) idle();
  }

  /** Resolves when no slot is taken. */
  settled(): Promise<void> {
    if (this.#taken === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle.push(resolve);
    });
  }
}
