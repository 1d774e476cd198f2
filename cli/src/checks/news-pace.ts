// When a line about something long goes to a pipe: after 2 s of silence for a new stage, after 10 s for more of the same, and
// after 15 s although nothing is new. Words that stand for 5 minutes are said once a minute. Pure.

const QUIET_MS = { newStage: 2_000, sameStage: 10_000, sameWords: 15_000, oldWords: 60_000 };
const OLD_MS = 5 * 60_000;
/** The stage is before it: `preparing the environment for 14 s: npm ci: added 12 packages`. */
const DETAIL = / for \d+ s(?=:|$)|: /;

interface PaceOptions {
  /** The words that the reader knows already. Default: none. */
  readonly told?: string;
  /** The silence before each new stage but the first. Default: 2 s. */
  readonly laterStageMs?: number;
}

export class NewsPace {
  readonly #laterStageMs: number;
  #news: string;
  #sinceMs: number;
  #told: string;
  #toldMs: number;
  #newStageMs = QUIET_MS.newStage;

  constructor(begunMs: number, { told = "", laterStageMs = QUIET_MS.newStage }: PaceOptions = {}) {
    this.#laterStageMs = laterStageMs;
    this.#news = told;
    this.#sinceMs = begunMs;
    this.#told = told;
    this.#toldMs = begunMs;
  }

  /** Whether to tell it now. If so, it counts as told. */
  due(news: string, nowMs: number): boolean {
    if (news !== this.#news) this.#sinceMs = nowMs;
    this.#news = news;
    if (nowMs - this.#toldMs < this.#quietMs(news, nowMs)) return false;
    if (news !== this.#told) this.#newStageMs = this.#laterStageMs;
    this.#told = news;
    this.#toldMs = nowMs;
    return true;
  }

  /** How long the newest words stand. */
  standsMs(nowMs: number): number {
    return nowMs - this.#sinceMs;
  }

  #quietMs(news: string, nowMs: number): number {
    if (news === this.#told) return this.standsMs(nowMs) < OLD_MS ? QUIET_MS.sameWords : QUIET_MS.oldWords;
    const isNew = this.#told === "" || stageOf(news) !== stageOf(this.#told);
    return isNew ? this.#newStageMs : QUIET_MS.sameStage;
  }
}

function stageOf(news: string): string {
  return news.split(DETAIL, 1)[0] ?? news;
}
