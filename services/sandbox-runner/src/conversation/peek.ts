/**
 * The supervisor's own work while a command waits for the answer to its question. One at a time; after its deadline it goes on
 * unheard, and ends with the command at the latest.
 */
import { withDeadline } from "@antiphon/runtime";

interface Begun {
  readonly hear: (piece: Buffer) => void;
  isHeard: boolean;
  readonly end: (isDone: boolean) => void;
}

export class Peek {
  #begun: Begun | null = null;

  /** `begin` asks the supervisor. False: the work failed, the command ended first, or another one is under way. */
  async work(begin: () => void, deadlineMs: number, hear: (piece: Buffer) => void): Promise<boolean> {
    if (this.#begun !== null) return false;
    const done = new Promise<boolean>((resolve) => {
      this.#begun = { hear, isHeard: true, end: resolve };
    });
    begin();
    return withDeadline(deadlineMs, done, () => {
      if (this.#begun !== null) this.#begun.isHeard = false;
      return false;
    });
  }

  hear(piece: Buffer): void {
    if (this.#begun?.isHeard === true) this.#begun.hear(piece);
  }

  end(isDone: boolean): void {
    const begun = this.#begun;
    this.#begun = null;
    begun?.end(isDone);
  }
}
