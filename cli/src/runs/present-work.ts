// The work that a followed run does now, in words: for the status line, and for the lines that break a long silence in a pipe.
import { foldFacts } from "@antiphon/run/facts/facts-fold";
import { isPaused, noFacts, type RunFacts } from "@antiphon/run/facts/run-facts";
import type { RunRecord } from "../gateway/gateway-client.ts";
import type { LiveOutput } from "../gateway/run-stream.ts";
import { doingNow, stillAt } from "./sentences.ts";

/** Words that stand for less are new. */
export const NEW_WORDS_MS = 2_500;

interface StorageProblem {
  readonly code: string;
  readonly message: string;
}

export class PresentWork {
  isWaiting = false;
  #isOver = false;
  #facts: RunFacts;
  #last: RunRecord | undefined;
  #progress: LiveOutput | null = null;
  #records = 0;
  #storage: StorageProblem | null = null;

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
    this.#records += 1;
  }

  /** The number of records so far. */
  get records(): number {
    return this.#records;
  }

  /** Null: the server has room, as far as is known. */
  storage(problem: StorageProblem | null): void {
    this.#storage = problem;
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
    const doing = doingNow(this.#last, this.#progress);
    return doing === "" ? "" : this.withStorage(doing);
  }

  /** Without the task, which has a column of its own; null: nothing is under way. */
  words(): string | null {
    const doing = this.doing();
    return doing === null ? null : this.withStorage(doing);
  }

  /** `words` without those about the store, which all runs share. */
  doing(): string | null {
    if (this.#isOver || this.isWaiting || isPaused(this.#facts)) return null;
    const doing = this.#withoutTask(doingNow(this.#last, this.#progress));
    return doing === "" ? null : doing;
  }

  /** Adds that the server has no room, unless that is what `doing` says. */
  withStorage(doing: string): string {
    if (this.#storage === null || doing.includes(this.#storage.code)) return doing;
    return `${doing}; ${this.#storage.code}: ${this.#storage.message}`;
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
