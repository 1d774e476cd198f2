/** A system that `npm run bench -- peers` measures: it does jobs durably, one at a time or five in a row. */
export type Kind = "job" | "flow";

export interface Contender {
  readonly name: string;
  /** Its configuration in a few words. */
  readonly setting: string;
  /** Does one job or one five-step flow; resolves when it is complete. */
  one(kind: Kind): Promise<void>;
  stop(): Promise<void>;
}

export type Found =
  | { readonly kind: "ready"; readonly contender: Contender }
  | { readonly kind: "unavailable"; readonly name: string; readonly reason: string };

/** A peer that is not available is shown as such, not silently left out. */
export async function find(name: string, start: () => Promise<Contender>): Promise<Found> {
  try {
    return { kind: "ready", contender: await start() };
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : String(error);
    return { kind: "unavailable", name, reason };
  }
}

/** The payload of every job, about as large as an intent. */
export const PAYLOAD = { goal: "Review what is there", inputs: { pad: "x".repeat(600) }, constraints: {} };

/** A contender that does not answer for this long is dropped. */
const PATIENCE_MS = 60_000;

/** Does `total` jobs of a kind, `concurrency` at a time; returns the rate per second. */
export async function rateOf(
  contender: Contender,
  kind: Kind,
  total: number,
  concurrency: number,
): Promise<number> {
  const startedAt = performance.now();
  let next = 0;
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    const late = (): void => reject(new Error(`a round of ${total} took more than ${PATIENCE_MS / 1000} s`));
    timer = setTimeout(late, PATIENCE_MS);
  });
  const work = Array.from({ length: concurrency }, async () => {
    while (next++ < total) await contender.one(kind);
  });
  try {
    await Promise.race([Promise.all(work), silence]);
  } finally {
    clearTimeout(timer);
  }
  return (total / (performance.now() - startedAt)) * 1000;
}

/** Matches answers that arrive apart from their call, by id, in either order. */
export class Answers {
  readonly #waiting = new Map<string, () => void>();
  readonly #early = new Set<string>();

  came(id: string): void {
    const waiter = this.#waiting.get(id);
    if (waiter === undefined) this.#early.add(id);
    else {
      this.#waiting.delete(id);
      waiter();
    }
  }

  of(id: string): Promise<void> {
    if (this.#early.delete(id)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }
}
