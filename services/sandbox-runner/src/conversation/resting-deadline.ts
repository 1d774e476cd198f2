/** Node fires a longer timer at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The time limit of what the conversation is busy with. It rests while a person is asked. */
export class RestingDeadline {
  readonly #over: () => void;
  #endsAtMs: number;
  #timer: NodeJS.Timeout | null = null;
  #leftMs = 0;

  constructor(ms: number, over: () => void) {
    this.#over = over;
    this.#endsAtMs = performance.now() + ms;
    this.#leftMs = ms;
    this.resume();
  }

  rest(): void {
    if (this.#timer === null) return;
    this.#leftMs = Math.max(0, this.#endsAtMs - performance.now());
    this.stop();
  }

  resume(): void {
    if (this.#timer !== null) return;
    this.#endsAtMs = performance.now() + this.#leftMs;
    this.#timer = setTimeout(this.#over, Math.min(this.#leftMs, LONGEST_TIMER_MS));
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
