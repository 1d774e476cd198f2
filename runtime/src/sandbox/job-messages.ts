import type { SandboxMessage } from "@antiphon/contracts";

type Say = (message: SandboxMessage) => void;

/**
 * The messages of people to one job. Each is said at once and again with each sign of life until its runner acknowledges it, so
 * none is lost on its way; its number makes a repetition harmless.
 */
export class JobMessages {
  readonly #given: SandboxMessage[] = [];
  readonly #told = new Set<number>();
  #say: Say | null = null;

  /** Numbered from 1, in this order. */
  give(text: string): void {
    const message = { number: this.#given.length + 1, text, look: 0 };
    this.#given.push(message);
    this.#say?.(message);
  }

  /** `say` reaches the job's runner. Another try of the job has an empty inbox, so all are said again. */
  reach(say: Say): void {
    this.#told.clear();
    this.#say = say;
  }

  repeat(): void {
    for (const message of this.#given) if (!this.#told.has(message.number)) this.#say?.(message);
  }

  told(number: number): void {
    this.#told.add(number);
  }
}
