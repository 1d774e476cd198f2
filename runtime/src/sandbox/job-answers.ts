import type { SandboxAnswer } from "@antiphon/contracts";

type Say = (answer: SandboxAnswer) => void;

/**
 * The answers to the questions of one job. Its runner repeats a question until the answer arrives, so an answer is said each
 * time its question is heard, and cannot be lost on its way.
 */
export class JobAnswers {
  readonly #given = new Map<number, SandboxAnswer>();
  #say: Say | null = null;

  give(answer: SandboxAnswer): void {
    this.#given.set(answer.number, answer);
    this.#say?.(answer);
  }

  /** A question was heard; `say` reaches the runner. */
  heard(number: number, say: Say): void {
    this.#say = say;
    const answer = this.#given.get(number);
    if (answer !== undefined) say(answer);
  }

  /** Another try numbers its questions anew. */
  clear(): void {
    this.#given.clear();
    this.#say = null;
  }
}
