// When a line about a check goes to a pipe: after 2 s of silence for a new stage, after 10 s for more of the same. Pure.

const QUIET_MS = { newStage: 2_000, sameStage: 10_000 };
/** The stage is before it: `preparing the environment for 14 s: npm ci: added 12 packages`. */
const DETAIL = / for \d+ s(?=:|$)|: /;

export class NewsPace {
  #told = "";
  #toldMs: number;

  constructor(begunMs: number) {
    this.#toldMs = begunMs;
  }

  /** Whether to tell it now. If so, it counts as told. */
  due(news: string, nowMs: number): boolean {
    if (news === this.#told) return false;
    const isNew = this.#told === "" || stageOf(news) !== stageOf(this.#told);
    if (nowMs - this.#toldMs < (isNew ? QUIET_MS.newStage : QUIET_MS.sameStage)) return false;
    this.#told = news;
    this.#toldMs = nowMs;
    return true;
  }
}

function stageOf(news: string): string {
  return news.split(DETAIL, 1)[0] ?? news;
}
