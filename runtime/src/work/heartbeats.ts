/**
 * Heartbeats: while a delivery is being handled, the server is told so before its ack wait is over, so that live work is
 * not delivered again.
 *
 * One timer serves all deliveries of a consumer and runs only while there are any; a timer for each would cost more than
 * the delivery. Between two signs of life of a delivery lie a quarter of the ack wait at least and half of it at most.
 */
export interface Held {
  /** Tells the server that the delivery is being handled. */
  beat(): void;
}

/** Beats in one ack wait. */
const BEATS = 3;
/** Looks at the deliveries between two beats. */
const LOOKS = 2;

export class Heartbeats {
  readonly #everyMs: number;
  /** When each was last told of; monotonic. */
  readonly #held = new Map<Held, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(ackWaitMs: number) {
    this.#everyMs = ackWaitMs / BEATS;
  }

  hold(delivery: Held): void {
    this.#held.set(delivery, performance.now());
    this.#timer ??= setInterval(() => this.#look(), this.#everyMs / LOOKS);
  }

  release(delivery: Held): void {
    this.#held.delete(delivery);
    if (this.#held.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }

  #look(): void {
    const now = performance.now();
    // A look may come early by the timer's own coarseness, and must not leave the beat to the next one.
    const due = now - this.#everyMs * (1 - 1 / (2 * LOOKS));
    for (const [delivery, toldAt] of this.#held) {
      if (toldAt > due) continue;
      this.#held.set(delivery, now);
      delivery.beat();
    }
  }
}
