/**
 * Elects the gateway that sends the notices, among those with the same address. One document holds the turn, the place in the
 * journal and the last notices, so a gateway that has lost the turn cannot move the place on.
 *
 * A turn is renewed while it is held. Another gateway takes it after it has seen no change for limits.noticeTurnMs by its
 * own clock, so clocks need not agree. A gateway that stops gives it back.
 */
import { AntiphonError, limits } from "@antiphon/contracts";
import { systemClock, type Kv, type Logger, type NewsPlaces } from "@antiphon/runtime";

interface Told {
  readonly v: 1;
  /** Null: nobody's turn. */
  readonly by: string | null;
  readonly places: NewsPlaces;
  /** Ids of the last notices, for the gateway that takes over. */
  readonly last: readonly string[];
}

export interface NoticeTurnParts {
  readonly kv: Kv;
  /** This process. */
  readonly by: string;
  readonly log: Logger;
  /** Default: limits.noticeTurnMs. */
  readonly turnMs?: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

type Entry = { readonly value: Told; readonly revision: number };

const KEY = "told";
const LAST = 64;

export class NoticeTurn {
  readonly #parts: Required<NoticeTurnParts>;
  #held: Entry | null = null;
  /** The turn of another gateway, and when it was first seen like this. */
  #seen = { revision: 0, at: 0 };
  /** When this gateway last wrote the document. */
  #renewedAt = 0;

  constructor(parts: NoticeTurnParts) {
    this.#parts = { turnMs: limits.noticeTurnMs, now: () => performance.now(), ...parts };
  }

  /** Takes the turn, and resolves to the notices that were told before. Null: another gateway has it. */
  async take(ends: () => Promise<NewsPlaces>): Promise<Pick<Told, "places" | "last"> | null> {
    const { kv, by } = this.#parts;
    const found = await kv.get(KEY);
    if (found === null) {
      await kv.create(KEY, { v: 1, by: null, places: await ends(), last: [] } satisfies Told);
      return this.take(ends);
    }
    this.#held = null;
    const entry = { value: toldOf(found.value), revision: found.revision };
    if (entry.value.by === by) {
      if (this.#isDue()) await this.#write(entry, entry.value);
      else this.#held = entry;
    }
    if (entry.value.by !== by && this.#isFree(entry)) await this.#write(entry, { ...entry.value, by });
    return this.#present()?.value ?? null;
  }

  /** False: the turn was lost, so another gateway sends the notices since the last call again. */
  async keep(places: NewsPlaces, told: Iterable<string>): Promise<boolean> {
    const held = this.#present();
    if (held === null) return false;
    return this.#write(held, { ...held.value, places, last: [...told].slice(0, LAST) });
  }

  /** Renews the turn before and during `work`. If the turn is lost, `work` does not start, or is aborted. */
  async during(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const held = this.#present();
    if (held === null || !(await this.#write(held, held.value))) return;
    const [over, lost] = [new AbortController(), new AbortController()];
    const renewing = this.#renew(over.signal, lost);
    try {
      await work(AbortSignal.any([signal, lost.signal]));
    } finally {
      over.abort();
      await renewing;
    }
  }

  async give(): Promise<void> {
    const held = this.#present();
    if (held !== null) await this.#write(held, { ...held.value, by: null });
    this.#held = null;
  }

  /** Other calls change it meanwhile. */
  #present(): Entry | null {
    return this.#held;
  }

  #isDue(): boolean {
    const { now, turnMs } = this.#parts;
    return now() - this.#renewedAt >= turnMs / 3;
  }

  #isFree({ value, revision }: Entry): boolean {
    const { now, turnMs } = this.#parts;
    if (value.by === null) return true;
    if (this.#seen.revision !== revision) this.#seen = { revision, at: now() };
    return now() - this.#seen.at >= turnMs;
  }

  async #write({ revision }: Entry, value: Told): Promise<boolean> {
    const written = await this.#parts.kv.update(KEY, value, revision);
    this.#held = written === null ? null : { value, revision: written };
    if (written !== null) this.#renewedAt = this.#parts.now();
    return written !== null;
  }

  async #renew(over: AbortSignal, lost: AbortController): Promise<void> {
    const { turnMs, log } = this.#parts;
    for (;;) {
      await systemClock.sleep(turnMs / 3, over);
      const held = this.#present();
      if (over.aborted || held === null) return;
      try {
        if (!(await this.#write(held, held.value))) lost.abort();
      } catch (error) {
        log.warn({ err: error }, "the turn to tell is not renewed"); // If another gateway takes it, the next write finds out.
      }
    }
  }
}

function toldOf(value: unknown): Told {
  const told = value as Partial<Told> | null;
  const { by, places, last } = told ?? {};
  const hasPlaces =
    typeof places === "object" && places !== null && Object.values(places).every(Number.isSafeInteger);
  if (told?.v === 1 && (by === null || typeof by === "string") && hasPlaces && Array.isArray(last))
    return told as Told;
  throw new AntiphonError(
    "ANT_STATE_CORRUPT",
    "the bucket of notices does not say how far the journal was told",
  );
}
