/**
 * Holds back the attempts of batch runs and of named tenants while the Associates have enough to do, so that who comes
 * later does not wait behind somebody's five hundred. Interactive runs of the default tenant pass without a look.
 *
 * Lifecycle of an attempt: asked for -> waiting -> let through (its Director is told to go on). Waiting is in memory
 * only: the journal says that the dispatch is owed, and after a crash the sweep asks again (J10).
 *
 * Invariants:
 *   O4 At most limits.dispatchAhead attempts, or as many as are being worked on, lie ready beyond those being worked on
 *      when a held one is let through; whoever needs no admission waits behind no more than that a Director.
 *   O5 One held attempt passes every limits.dispatchTurnMs however long the queue is: nothing waits for ever.
 *   O6 A turn lasts as long as what was held back takes to become a record, whatever else its run has to do: a clean room
 *      of one run holds up the held attempts of none.
 */
import { limits } from "@antiphon/contracts";
import type { Backlog } from "@antiphon/runtime";
import type { RunState } from "@antiphon/run";
import { nextTurn, noTurns, queue, type Turns } from "./turns.ts";

export interface AdmissionQueueParts {
  backlog(): Promise<Backlog>;
  /** Milliseconds; only differences count. */
  now(): number;
  /** The run's dispatch passes now. Comes back when it is stored, and waits for nothing else (O6). */
  admit(runId: string): Promise<void>;
  /** Somebody waits: a turn is needed. */
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

  /** Whether the attempt may be dispatched; otherwise it waits, and its run is told when it is its turn. */
  admits({ runId, intent }: RunState, key: string): boolean {
    const { priority = "interactive", tenant = "default" } = intent?.options ?? {};
    if (priority === "interactive" && tenant === "default") return true;
    if (this.#admitted.has(key)) return true;
    this.#turns = queue(this.#turns, { key: `${runId}\n${key}`, tenant, batch: priority === "batch" });
    this.#parts.onWaiting();
    return false;
  }

  /** Lets through whose turn it is, as far as there is room. "more": somebody still waits. */
  async turn(): Promise<"more" | "nothing"> {
    if (this.#turns.waiting.length === 0) return "nothing";
    const { ready, atWork } = await this.#parts.backlog();
    const room = Math.max(limits.dispatchAhead, atWork) - ready; // O4
    const overdue = this.#parts.now() - this.#lastAt >= limits.dispatchTurnMs ? 1 : 0; // O5
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
