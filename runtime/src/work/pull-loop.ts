import type { Msg } from "@nats-io/nats-core";
import { READERS } from "@antiphon/contracts";
import { backoffMs } from "../process/backoff.ts";
import type { Bus } from "../nats/bus.ts";
import type { Logger } from "../process/logger.ts";
import { subscribe } from "../nats/subscription.ts";

/**
 * PullLoop: keeps as many messages requested from one durable consumer as there are free slots, and not one
 * more: what is delivered is worked on at once, so nothing waits in this process while another one idles.
 *
 * Lifecycle: running -> stopped. A request to the server (a "pull") is live, or stale once its heartbeat
 * stopped or the connection was lost. A stale pull no longer counts, but its reply subject stays open until
 * the server must have forgotten it: what still comes is taken if a slot is free and handed back if not.
 *
 * Invariants:
 *   W1 Live requests plus busy slots never exceed `slots`; what all loops of a consumer hold never exceeds the gate.
 *   W2 While a slot is free and the bus is up a pull is live, or a retry is scheduled: the loop never stalls.
 *   W3 A delivery that cannot be worked on (no slot) is handed back at once, not left to time out.
 *   W4 What the server has handed out by the time it hears of a stop is worked on: there is a slot for it (W1), so
 *      leaving in order makes nobody do anything again.
 *   W5 Of the readers of a consumer that keeps to one, a free one has what comes and the next one what is too much for it;
 *      one that died is replaced at once, one that stands still within `turnExpiresMs` and an ack wait.
 */
export interface PullLoopOptions {
  stream: string;
  consumer: string;
  slots: number;
  /**
   * Of a consumer that keeps to one reader: 0 to 9. The free reader with the lowest number has what comes, so each reader
   * draws one for each stream: what a reader remembers is of use to it, and the next one takes over at once.
   */
  turn?: number;
  /** Slots that several loops share; where there are fewer of them than loops, W3 hands back what is too much. */
  gate?: Gate;
  log: Logger;
  /** Takes a message; the slot is free again when the promise settles. It must not reject. */
  onMessage(message: Msg): Promise<void>;
}

/** Counts what all loops of one consumer hold together. */
export class Gate {
  private readonly size: number;
  private readonly listeners: (() => void)[] = [];
  private held = 0;

  constructor(size: number) {
    this.size = size;
  }

  /** Called when a slot is free again. */
  onFree(listener: () => void): void {
    this.listeners.push(listener);
  }

  get free(): number {
    return this.size - this.held;
  }

  take(): boolean {
    if (this.held >= this.size) return false;
    this.held += 1;
    return true;
  }

  give(): void {
    this.held -= 1;
    for (const listener of this.listeners) listener();
  }
}

interface Pull {
  subscription: { unsubscribe(): void; drain(): Promise<void> };
  wanted: number;
  live: boolean;
  heardAt: number;
}

const expiresMs = 30_000;
/** Where one reader is preferred: one that stands still (SIGSTOP) is handed work for this long at the most. */
const turnExpiresMs = 6_000;
/** Not more than half of any expiry: the server refuses that. */
const heartbeatMs = 3000;
const watchMs = 1000;
const handoverMs = 2000;
const nanos = 1_000_000;
const retryPolicy = { baseMs: 50, capMs: 2000 };

export class PullLoop {
  private readonly bus: Bus;
  private readonly options: PullLoopOptions;
  private readonly pulls = new Set<Pull>();
  private readonly idle: (() => void)[] = [];
  private readonly offConnectivity: () => void;
  private readonly watch: NodeJS.Timeout;
  private readonly inbox: string;
  private readonly gate: Gate;
  private retryTimer: NodeJS.Timeout | null = null;
  private failures = 0;
  private busy = 0;
  private pullCount = 0;
  private stopped = false;
  private handover: Promise<void> = Promise.resolve();
  private scheduled = false;

  constructor(bus: Bus, options: PullLoopOptions, inbox: string) {
    this.bus = bus;
    this.options = options;
    this.gate = options.gate ?? new Gate(options.slots);
    this.inbox = inbox;
    this.offConnectivity = bus.onConnectivity((up) => {
      if (up) this.schedule();
      else for (const pull of this.pulls) pull.live = false;
    });
    this.gate.onFree(() => this.schedule());
    this.watch = setInterval(() => this.checkHeartbeats(), watchMs);
    this.schedule();
  }

  private get expiresMs(): number {
    return this.options.turn === undefined ? expiresMs : turnExpiresMs;
  }

  get busySlots(): number {
    return this.busy;
  }

  /** No new work; what was handed out already still arrives. */
  stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    this.handover = this.endPulls(); // W4
    this.offConnectivity();
    clearInterval(this.watch);
    if (this.retryTimer !== null) clearTimeout(this.retryTimer);
  }

  /** Resolves when no slot is busy; after `stop` that is for good. */
  async idleSlots(): Promise<void> {
    await this.handover;
    if (this.busy > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  /** Drops the reply subjects. Only after `stop`. */
  close(): void {
    for (const pull of [...this.pulls]) this.end(pull);
  }

  /** The server answers behind everything it sent before; one that cannot be heard has nothing to hand over. */
  private async endPulls(): Promise<void> {
    if (!this.bus.connected) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, handoverMs)));
    await Promise.race([late, Promise.allSettled([...this.pulls].map((pull) => pull.subscription.drain()))]);
    clearTimeout(timer);
  }

  private schedule(): void {
    if (this.scheduled || this.stopped) return;
    this.scheduled = true;
    // In a macrotask, so that slots freed by one burst of acknowledgements become one pull.
    setImmediate(() => {
      this.scheduled = false;
      this.pull();
    });
  }

  /** How many messages may be asked for now (W1). */
  private get wanted(): number {
    if (this.stopped || !this.bus.connected || this.retryTimer !== null) return 0;
    let covered = this.busy;
    for (const pull of this.pulls) if (pull.live) covered += pull.wanted;
    return Math.min(this.options.slots - covered, this.gate.free);
  }

  private pull(): void {
    const { wanted } = this;
    if (wanted <= 0) return;
    this.pullCount += 1;
    const reply = `${this.inbox}.${this.pullCount.toString(36)}`;
    const pull: Pull = {
      subscription: subscribe(this.bus.nc, reply, (message) => this.receive(pull, message), {
        log: this.options.log,
      }),
      wanted,
      live: true,
      heardAt: performance.now(),
    };
    this.pulls.add(pull);
    const { stream, consumer, turn } = this.options;
    const body = JSON.stringify({
      batch: wanted,
      expires: this.expiresMs * nanos,
      idle_heartbeat: heartbeatMs * nanos,
      ...(turn === undefined ? {} : { group: READERS, priority: turn }),
    });
    this.bus.nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, body, { reply });
  }

  private receive(pull: Pull, message: Msg): void {
    pull.heardAt = performance.now();
    // A delivery names where it is acknowledged; what does not is the server's own word, in headers.
    if (message.reply === undefined || message.reply === "") {
      const status = message.headers?.code ?? 0;
      if (status !== 100) this.refused(pull, status, message.headers?.description ?? "");
      return;
    }
    this.failures = 0;
    pull.wanted -= 1;
    if (pull.wanted <= 0) this.end(pull);
    if (this.busy >= this.options.slots || !this.gate.take()) {
      message.respond("-NAK"); // W3
      return;
    }
    this.busy += 1;
    void this.options.onMessage(message).finally(() => {
      this.busy -= 1;
      this.gate.give(); // W2: whichever loop has something may take it
      if (this.busy === 0) for (const resolve of this.idle.splice(0)) resolve();
    });
  }

  private refused(pull: Pull, status: number, description: string): void {
    this.end(pull);
    // 404 and 408: nothing there in time. The rest means that the server is not ready for us.
    if (status === 404 || status === 408) {
      this.schedule();
      return;
    }
    this.failures += 1;
    const level = this.failures % 20 === 5 ? "warn" : "debug";
    const { stream, consumer } = this.options;
    this.options.log[level]({ stream, consumer, status, description }, "pull refused; trying again");
    this.retryLater();
  }

  private retryLater(): void {
    if (this.stopped || this.retryTimer !== null) return;
    const delay = backoffMs(this.failures, retryPolicy, Math.random());
    this.retryTimer = setTimeout(() => {
      this.retryTimer = null;
      this.schedule();
    }, delay);
  }

  private checkHeartbeats(): void {
    const now = performance.now();
    for (const pull of [...this.pulls]) {
      const silent = now - pull.heardAt;
      if (pull.live && silent > 2 * heartbeatMs) pull.live = false;
      if (!pull.live && silent > this.expiresMs + 2 * heartbeatMs) this.end(pull);
    }
    if (this.wanted > 0) this.schedule(); // W2: also the net under everything above
  }

  private end(pull: Pull): void {
    if (!this.pulls.delete(pull)) return;
    if (!this.bus.nc.isClosed()) pull.subscription.unsubscribe();
  }
}
