import type { Msg, Subscription } from "@nats-io/nats-core";
import { READERS } from "@antiphon/contracts";
import { backoffMs } from "../process/backoff.ts";
import type { Bus } from "../nats/bus.ts";
import type { Logger } from "../process/logger.ts";
import { subscribe } from "../nats/subscription.ts";
import { heartbeatMs, Pulls } from "./pulls.ts";
import { Semaphore } from "./semaphore.ts";
import { withDeadline } from "../process/with-deadline.ts";

/**
 * PullLoop: requests exactly as many messages from one durable consumer as it has free slots. Every delivered message
 * is worked on at once, so none waits in this process while another process is idle.
 *
 * Lifecycle: running -> stopped. The answers to all requests (pulls.ts) come through one subscription, so a late message still
 * arrives: it is taken if a slot is free, and handed back at once if not.
 *
 * Live requests plus busy slots never exceed `slots`, and all loops of a consumer together never exceed the semaphore.
 * While a slot is free and the bus is up, a pull is live or a retry is scheduled, so the loop never stalls. Deliveries
 * made before the server hears of a stop still find a slot and are handled, so an orderly exit repeats no work.
 *
 * If a consumer prefers one reader, the free reader with the lowest priority number gets the message, and overflow goes
 * to the next one. A dead reader is replaced at once, a suspended one within `turnExpiresMs` and an ack wait.
 */
export interface PullLoopOptions {
  stream: string;
  consumer: string;
  slots: number;
  /**
   * Priority of this reader, 0 to 9, of a consumer that prefers one reader: the free reader with the lowest number gets
   * the message. Each reader draws a number for each stream. Its memory then stays useful, and the next one takes over
   * at once.
   */
  turn?: number;
  /** Slots that several loops share. If there are fewer slots than loops, an excess delivery is handed back. */
  semaphore?: Semaphore;
  log: Logger;
  /** Handles a message; its slot is free again when the promise settles. It must not reject. */
  onMessage(message: Msg): Promise<void>;
}

const expiresMs = 30_000;
/** For a preferred reader: one that is suspended (SIGSTOP) is handed work for at most this long. */
const turnExpiresMs = 6_000;
const watchMs = 1000;
const handoverMs = 2000;
const nanos = 1_000_000;
const retryPolicy = { baseMs: 50, capMs: 2000 };

export class PullLoop {
  private readonly bus: Bus;
  private readonly options: PullLoopOptions;
  private readonly expiresMs: number;
  private readonly pulls: Pulls;
  private readonly answers: Subscription;
  private readonly idle: (() => void)[] = [];
  private readonly offConnectivity: () => void;
  private readonly watch: NodeJS.Timeout;
  private readonly inbox: string;
  private readonly semaphore: Semaphore;
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
    this.expiresMs = options.turn === undefined ? expiresMs : turnExpiresMs;
    this.pulls = new Pulls(this.expiresMs);
    this.semaphore = options.semaphore ?? new Semaphore(options.slots);
    this.inbox = inbox;
    this.answers = subscribe(bus.nc, `${inbox}.*`, (message) => this.receive(message), { log: options.log });
    this.offConnectivity = bus.onConnectivity((up) => {
      if (up) this.schedule();
      else this.pulls.suspend();
    });
    this.semaphore.onFree(() => this.schedule());
    this.watch = setInterval(() => this.checkHeartbeats(), watchMs);
    this.schedule();
  }

  get busySlots(): number {
    return this.busy;
  }

  /** Requests no new work; messages that were already delivered still arrive. */
  stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    this.handover = this.endPulls();
    this.offConnectivity();
    clearInterval(this.watch);
    if (this.retryTimer !== null) clearTimeout(this.retryTimer);
  }

  /** Resolves when no slot is busy; after `stop` none becomes busy again. */
  async idleSlots(): Promise<void> {
    await this.handover;
    if (this.busy > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  /** Hears no answer from here on. Call it only after `stop`. */
  close(): void {
    if (!this.bus.nc.isClosed() && !this.answers.isClosed()) this.answers.unsubscribe();
  }

  /**
   * The server's answer to the drain comes after all its deliveries. An unreachable server has nothing to hand over.
   */
  private async endPulls(): Promise<void> {
    if (!this.bus.connected) return;
    const drained = this.answers.drain().catch(() => undefined);
    await withDeadline(handoverMs, drained, () => undefined);
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

  /** How many messages may be requested now. */
  private get wanted(): number {
    if (this.stopped || !this.bus.connected || this.retryTimer !== null) return 0;
    return Math.min(this.options.slots - this.busy - this.pulls.wanted, this.semaphore.free);
  }

  private pull(): void {
    const { wanted } = this;
    if (wanted <= 0) return;
    this.pullCount += 1;
    const reply = `${this.inbox}.${this.pullCount.toString(36)}`;
    this.pulls.add(reply, wanted);
    const { stream, consumer, turn } = this.options;
    const body = JSON.stringify({
      batch: wanted,
      expires: this.expiresMs * nanos,
      idle_heartbeat: heartbeatMs * nanos,
      ...(turn === undefined ? {} : { group: READERS, priority: turn }),
    });
    this.bus.nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, body, { reply });
  }

  private receive(message: Msg): void {
    // A delivery has a reply subject for its acknowledgement; a message without one is a status of the server, on the
    // reply subject of its pull.
    if (message.reply === undefined || message.reply === "") return this.hearStatus(message);
    this.failures = 0;
    this.pulls.delivered();
    if (this.busy >= this.options.slots || !this.semaphore.take()) {
      message.respond("-NAK");
      return;
    }
    this.busy += 1;
    void this.options.onMessage(message).finally(() => {
      this.busy -= 1;
      this.semaphore.give(); // any loop of the consumer may take it
      if (this.busy === 0) for (const resolve of this.idle.splice(0)) resolve();
    });
  }

  private hearStatus({ subject, headers }: Msg): void {
    const { code: status = 0, description = "" } = headers ?? {};
    if (!this.pulls.heard(subject) || status === 100) return;
    this.pulls.end(subject);
    // 404 and 408: no message in time. Any other status: the server is not ready for this pull.
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
    this.pulls.checkHeartbeats();
    if (this.wanted > 0) this.schedule(); // catches any stall that the events above missed
  }
}
