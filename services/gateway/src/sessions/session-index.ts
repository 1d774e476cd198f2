// The sessions that were opened, the newest first. A configuration is written once, so each is read once by a gateway: a look at
// the list reads those that came since the last one. Sessions that the stream has dropped by their age are left out.
import { limits } from "@antiphon/contracts";

export interface OpenedSession {
  readonly sessionId: string;
  /** Of its configuration in the stream: the order of opening. */
  readonly seq: number;
  readonly at: Date;
}

/** The sessions opened at a sequence and later, in order, or some of them. Empty: there are none. */
export type ReadOpened = (fromSeq: number) => Promise<readonly OpenedSession[]>;

export class SessionIndex {
  readonly #read: ReadOpened;
  readonly #now: () => number;
  /** Oldest first. */
  #known: OpenedSession[] = [];
  #reading: Promise<void> | null = null;

  constructor(read: ReadOpened, now: () => number) {
    this.#read = read;
    this.#now = now;
  }

  /** Up to `limit` that were opened before the one at `below`; `more`: there are others behind them. */
  async page(limit: number, below: number): Promise<{ sessions: readonly OpenedSession[]; more: boolean }> {
    this.#reading ??= this.#readNew().finally(() => (this.#reading = null));
    await this.#reading;
    const older = this.#known.filter(({ seq }) => seq < below);
    return { sessions: older.slice(-limit).reverse(), more: older.length > limit };
  }

  async #readNew(): Promise<void> {
    for (;;) {
      const fresh = await this.#read((this.#known.at(-1)?.seq ?? 0) + 1);
      if (fresh.length === 0) break;
      this.#known.push(...fresh);
    }
    const oldest = this.#now() - limits.sessionKeepS * 1000;
    this.#known = this.#known.filter(({ at }) => at.getTime() > oldest);
  }
}
