/**
 * A process of the launcher, from this side: it is started, its streams connect, they close, and its end is asked for.
 *
 * A process that never connects is asked for after a while, because it may have been killed before it could.
 */
import type { Socket } from "node:net";
import type { ProcessEnd, ProcessOrder, ProcessRun } from "./process-run.ts";

const CONNECTS_MS = 2_000;
/** For a connection of a process that a signal ended, perhaps before it could connect. */
const ARRIVES_MS = 250;
/** For a connection of a process that ended by itself, which has made it: this service is slow to hear of it. */
const LATE_MS = 10_000;
/** Both that are read. */
const READ_STREAMS = 2;

interface Orders {
  wait(): void;
  kill(): void;
}

export class LaunchedRun implements ProcessRun {
  readonly ended: Promise<ProcessEnd>;
  readonly #order: ProcessOrder;
  readonly #orders: Orders;
  readonly #patience: NodeJS.Timeout;
  #arrival: NodeJS.Timeout | null = null;
  #connected = 0;
  #closed = 0;
  #end: ProcessEnd | null = null;
  #resolve: (end: ProcessEnd) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(order: ProcessOrder, orders: Orders) {
    this.#order = order;
    this.#orders = orders;
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#patience = setTimeout(() => orders.wait(), CONNECTS_MS);
  }

  kill(): void {
    this.#orders.kill();
    if (this.#connected === 0) this.#orders.wait(); // It may never connect now.
  }

  /** `first`: what was read of it already. */
  connected(letter: string, stream: Socket, first: Buffer): void {
    if (letter === "i") {
      stream.resume();
      stream.end(this.#order.stdin ?? "");
      return;
    }
    this.#connected += 1;
    if (this.#connected === READ_STREAMS) this.#stopWaiting();
    const hear = letter === "o" ? this.#order.onOutput : this.#order.onError;
    if (first.length > 0) hear(first);
    stream.on("data", hear).once("close", () => this.#streamClosed());
    stream.once("end", () => stream.destroy());
    stream.resume();
  }

  /**
   * Waits until its output was heard. A process connects before it ends, so a connection may be on its way although its end is
   * known. Without its output an exit code says nothing, so the process then counts as ended by a signal.
   */
  finished(end: ProcessEnd): void {
    this.#end = end;
    if (this.#connected < READ_STREAMS) {
      const unheard = end.code === null ? end : { code: null, signal: "the loss of its output" };
      this.#arrival = setTimeout(() => this.#resolve(unheard), end.code === null ? ARRIVES_MS : LATE_MS);
    }
    clearTimeout(this.#patience);
    this.#settle();
  }

  failed(error: Error): void {
    this.#stopWaiting();
    this.#reject(error);
  }

  #stopWaiting(): void {
    clearTimeout(this.#patience);
    if (this.#arrival !== null) clearTimeout(this.#arrival);
  }

  /** The launcher is gone, and nobody can tell how the process ends. */
  orphaned(): void {
    this.finished({ code: null, signal: "the end of its launcher" });
  }

  #streamClosed(): void {
    this.#closed += 1;
    if (this.#closed === READ_STREAMS && this.#end === null) this.#orders.wait();
    else this.#settle();
  }

  #settle(): void {
    if (this.#end !== null && this.#closed === READ_STREAMS) this.#resolve(this.#end);
  }
}
