/**
 * The admission queue: holds back attempts of batch runs and of named tenants while the Associates have enough to do,
 * so that five hundred of one tenant do not delay the next caller. Interactive runs of the default tenant pass at once.
 *
 * Lifecycle of an attempt: requested -> waiting -> admitted (its run's dispatch is stored). The queue is in memory
 * only: the journal shows that the dispatch is owed, and after a crash the sweep asks again.
 *
 * Attempts are admitted while fewer lie ready than limits.dispatchAhead, or than are being worked on if these are more;
 * so an attempt that skips the queue waits behind no more than that per Director.
 */
import { limits, type HeldAttempts } from "@antiphon/contracts";
import type { Backlog } from "@antiphon/runtime";
import type { RunState } from "@antiphon/run";
import { heldIn, nextTurn, noTurns, queue, type Turns } from "./turns.ts";

export interface AdmissionQueueParts {
  backlog(): Promise<Backlog>;
  /** Milliseconds; only differences count. */
  now(): number;
  /** Dispatches the run's admitted attempt. Resolves when that is stored, and waits for no other effect of the run. */
  admit(runId: string): Promise<void>;
  /** An attempt waits: a turn is needed. */
  onWaiting(): void;
}

export class AdmissionQueue {
  readonly #parts: AdmissionQueueParts;
  readonly #admitted = new Set<string>();
  #turns: Turns = noTurns;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(parts: AdmissionQueueParts) {
    this.#parts = parts;
  }

  /** Whether the attempt may be dispatched now. Otherwise it is queued. */
  admits({ runId, facts }: RunState, key: string): boolean {
    const { priority = "interactive", tenant = "default" } = facts.intent?.options ?? {};
    if (priority === "interactive" && tenant === "default") return true;
    if (this.#admitted.has(key)) return true;
    this.#turns = queue(this.#turns, { key: `${runId}\n${key}`, tenant, batch: priority === "batch" });
    this.#parts.onWaiting();
    return false;
  }

  held(): HeldAttempts[] {
    return heldIn(this.#turns);
  }

  /** Admits attempts in turn as far as there is room. "more": others still wait. */
  async turn(): Promise<"more" | "nothing"> {
    if (this.#turns.waiting.length === 0) return "nothing";
    const { ready, atWork } = await this.#parts.backlog();
    const room = Math.max(limits.dispatchAhead, atWork) - ready;
    const overdue = this.#parts.now() - this.#lastAt >= limits.dispatchTurnMs ? 1 : 0; // director/D9
    for (let left = Math.max(room, overdue); left > 0; left -= 1) {
      const next = nextTurn(this.#turns);
      if (next === null) break;
      this.#turns = next.turns;
      this.#lastAt = this.#parts.now();
      const [runId = "", key = ""] = next.item.key.split("\n");
      this.#admitted.add(key);
      try {
        await this.#parts.admit(runId);
      } catch (error) {
        this.#turns = queue(this.#turns, next.item);
        throw error;
      } finally {
        this.#admitted.delete(key);
      }
    }
    return this.#turns.waiting.length > 0 ? "more" : "nothing";
  }
}
