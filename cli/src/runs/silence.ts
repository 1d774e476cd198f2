// Without a terminal there is no status line. Then a line tells what a run is at when none was printed for a while.
import { NewsPace } from "../checks/news-pace.ts";

const LOOK_EVERY_MS = 500;
const LATER_STAGE_MS = 10_000;

export interface SilenceParts {
  /** The present work of the run, without the name of its task; null: nothing is under way. */
  words(): string | null;
  /** Prints the words. `standsMs`: for how long they have been the same. */
  tell(words: string, standsMs: number): void;
}

export class Silence {
  readonly #parts: SilenceParts;
  readonly #timer: NodeJS.Timeout;
  #pace: NewsPace;

  constructor(parts: SilenceParts) {
    this.#parts = parts;
    this.#pace = paceFrom(parts);
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS);
  }

  /** A line was printed, which tells what the run is at. */
  broken(): void {
    this.#pace = paceFrom(this.#parts);
  }

  look(): void {
    const words = this.#parts.words();
    const now = performance.now();
    if (words !== null && this.#pace.due(words, now)) this.#parts.tell(words, this.#pace.standsMs(now));
  }

  end(): void {
    clearInterval(this.#timer);
  }
}

function paceFrom(parts: SilenceParts): NewsPace {
  return new NewsPace(performance.now(), { told: parts.words() ?? "", laterStageMs: LATER_STAGE_MS });
}
