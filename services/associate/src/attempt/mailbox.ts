/**
 * What people tell one attempt. The messages on record when it begins are part of its brief, also those to earlier attempts of
 * the task; each later one is given to the job that runs.
 *
 * A record is all that a message is: the mailbox of the next attempt is filled from the same records, so a message that this
 * process took and did not deliver is not lost with it.
 */
import type { StoredRecord } from "@antiphon/contracts";

export interface Told {
  /** Its number in the run. */
  readonly n: number;
  readonly by: string;
  readonly text: string;
}

/** Of the messages in a brief, all together. The newest count. */
const BRIEF_CHARS = 16_000;

export class Mailbox {
  readonly #taskId: string;
  readonly #all = new Map<number, Told>();
  #listener: ((told: Told) => void) | null = null;

  constructor(taskId: string) {
    this.#taskId = taskId;
  }

  /** Records of any type; repetitions change nothing. */
  take(records: readonly StoredRecord[]): void {
    for (const { type, body, epoch: n } of records) {
      if (type !== "message" || body.task !== this.#taskId || this.#all.has(n)) continue;
      const told = { n, by: body.by, text: body.text };
      this.#all.set(n, told);
      this.#listener?.(told);
    }
  }

  /** The newest ones that fit a brief, oldest first. */
  forBrief(): readonly Told[] {
    let left = BRIEF_CHARS;
    const all = [...this.#all.values()].reverse();
    const from = all.findIndex(({ text }) => (left -= text.length) < 0);
    return all.slice(0, from === -1 ? undefined : from).reverse();
  }

  /** Calls back with every message that is or will be there. Returns how to stop. */
  each(listener: (told: Told) => void): () => void {
    this.#listener = listener;
    for (const told of this.#all.values()) listener(told);
    return () => (this.#listener = null);
  }
}
