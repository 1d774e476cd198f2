// What a followed run is at now: for the status line, and for the lines that break a long silence in a pipe.
import { foldFacts } from "@antiphon/run/facts/facts-fold";
import { isPaused, noFacts, type RunFacts } from "@antiphon/run/facts/run-facts";
import type { LiveOutput, RunRecord } from "../gateway/gateway-client.ts";
import { doingNow, stillAt } from "./sentences.ts";

/** Words that stand for less are new. */
export const NEW_WORDS_MS = 2_500;

export class PresentWork {
  isWaiting = false;
  #isOver = false;
  #facts: RunFacts;
  #last: RunRecord | undefined;
  #progress: LiveOutput | null = null;

  constructor(runId: string) {
    this.#facts = noFacts(runId);
  }

  get facts(): RunFacts {
    return this.#facts;
  }

  record(record: RunRecord): void {
    this.#last = record;
    this.#facts = foldFacts(this.#facts, record);
    this.#progress = null;
  }

  output(output: LiveOutput): void {
    if (output.stream === "progress") this.#progress = output;
  }

  /** The run has ended, or cannot be followed any more. */
  end(): void {
    this.#isOver = true;
  }

  /** Older news say nothing about what is done after the gap. */
  connectionLost(): void {
    this.#progress = null;
  }

  get task(): string | null {
    return this.#progress?.taskId ?? this.#last?.taskId ?? null;
  }

  statusLine(): string {
    return doingNow(this.#last, this.#progress);
  }

  /** Without the task, which has a column of its own; null: nothing is under way. */
  words(): string | null {
    if (this.#isOver || this.isWaiting || isPaused(this.#facts)) return null;
    const words = this.#withoutTask(this.statusLine());
    return words === "" ? null : words;
  }

  /** The line about `words`, which have been the same for `standsMs`. */
  line(words: string, standsMs: number): string {
    if (standsMs < NEW_WORDS_MS) return words;
    if (this.#progress === null) return stillAt(words, null, standsMs);
    return stillAt(this.#withoutTask(doingNow(this.#last, null)), words, standsMs);
  }

  #withoutTask(words: string): string {
    const name = `${this.task ?? "run"}: `;
    return (words.startsWith(name) ? words.slice(name.length) : words).trim();
  }
}
