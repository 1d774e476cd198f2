import { AntiphonError, limits } from "@antiphon/contracts";

type Stream = "stdout" | "stderr";
export type OutputListener = (stream: Stream, piece: Buffer) => void | Promise<void>;

/** Hands pieces of output to a listener one after the other, counts what it has taken, and says so now and then. */
export class OutputDelivery {
  readonly #listener: OutputListener;
  readonly #report: () => void;
  readonly #onFailure: () => void;
  #next = 0;
  #taken = 0;
  #reported = 0;
  #failed = false;
  #delivered: Promise<void> = Promise.resolve();

  /** `report` is called when enough was taken to be told; `onFailure` once, when a piece is missing or not taken. */
  constructor(listener: OutputListener, report: () => void, onFailure: () => void) {
    this.#listener = listener;
    this.#report = report;
    this.#onFailure = onFailure;
  }

  /** Bytes. */
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

  /** Resolves when all of it was taken; rejects with the listener's own error. */
  settled(): Promise<void> {
    return this.#delivered;
  }
}
