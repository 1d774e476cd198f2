import { AntiphonError, limits } from "@antiphon/contracts";

type Stream = "stdout" | "stderr";
export type OutputListener = (stream: Stream, piece: Buffer) => void | Promise<void>;

/**
 * Hands pieces of output to a listener one after the other, counts the bytes it took, and reports the count regularly.
 */
export class OutputDelivery {
  readonly #listener: OutputListener;
  readonly #report: () => void;
  readonly #onFailure: () => void;
  #next = 0;
  #taken = 0;
  #reported = 0;
  #failed = false;
  #delivered: Promise<void> = Promise.resolve();

  /**
   * `report` is called whenever enough bytes were taken; `onFailure` once, if a piece is missing or the listener
   * throws.
   */
  constructor(listener: OutputListener, report: () => void, onFailure: () => void) {
    this.#listener = listener;
    this.#report = report;
    this.#onFailure = onFailure;
  }

  /** Number of bytes taken. */
  get taken(): number {
    return this.#taken;
  }

  push({ seq, stream, data }: { seq: number; stream: Stream; data: string }): void {
    const isNext = seq === this.#next;
    this.#next += 1;
    this.#delivered = this.#delivered.then(async () => {
      if (!isNext) throw new AntiphonError("ANT_SANDBOX_RUNNER_LOST", "output was lost on its way");
      const piece = Buffer.from(data, "base64");
      await this.#listener(stream, piece);
      this.#taken += piece.length;
      if (this.#taken - this.#reported < limits.sessionWindowBytes / 4) return;
      this.#reported = this.#taken;
      this.#report();
    });
    this.#delivered.catch(() => {
      if (this.#failed) return;
      this.#failed = true;
      this.#onFailure();
    });
  }

  /** Resolves when the listener took everything; rejects with the listener's own error. */
  settled(): Promise<void> {
    return this.#delivered;
  }
}
