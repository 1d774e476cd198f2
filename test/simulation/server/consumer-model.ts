/**
 * ConsumerModel: a durable pull consumer with explicit acknowledgement.
 *
 * A record is new -> pending (delivered, with the time of its last sign of life) -> gone (acknowledged or
 * terminated), or back in the queue of redeliveries when its ack wait expires or it is handed back.
 *
 * An acknowledgement is not fenced: it counts from any client, at any time, for any delivery. That is the server's rule,
 * and the reason for the claim register.
 */
import type { StoredMessage, StreamModel } from "./stream-model.ts";
import { matcher, type Matches } from "./subject-filter.ts";
import { emptyData, statusBlock, type Frame } from "./wire.ts";

export interface ConsumerSettings {
  name: string;
  filters: readonly string[];
  ackWaitMs: number;
  /** -1: for ever. */
  maxDeliver: number;
  /** -1: no bound. */
  maxAckPending: number;
}

/** What a consumer needs from its server. */
export interface ConsumerHost {
  nowMs(): number;
  after(delayMs: number, run: () => void): () => void;
  /** Sends to the subscribers of `inbox`, under the frame's own subject. */
  send(inbox: string, frame: Frame): void;
  hasInterest(inbox: string): boolean;
  /** A record is redelivered. */
  onRedelivery?(): void;
}

interface Pull {
  inbox: string;
  left: number;
  expiresAtMs: number;
  cancel: () => void;
}

interface Pending {
  /** Consumer sequence of the first delivery. */
  dseq: number;
  heardAtMs: number;
}

const FORGET_WINDOW_MS = 500;

export class ConsumerModel {
  readonly settings: ConsumerSettings;
  private readonly stream: StreamModel;
  private readonly host: ConsumerHost;
  private readonly accepts: readonly Matches[];
  private line: number[] = [];
  private head = 0;
  private readonly pending = new Map<number, Pending>();
  private readonly redeliveries = new Map<number, number>();
  private again: number[] = [];
  private pulls: Pull[] = [];
  private dseq = 0;
  private handedOut = 0;
  private stopTimer: (() => void) | null = null;
  private timerAtMs = Number.POSITIVE_INFINITY;
  private recentAcks: { seq: number; atMs: number; dseq: number }[] = [];

  constructor(stream: StreamModel, settings: ConsumerSettings, host: ConsumerHost) {
    this.stream = stream;
    this.settings = settings;
    this.host = host;
    this.accepts = settings.filters.map(matcher);
    for (const message of stream.messages.values())
      if (this.wants(message.subject)) this.line.push(message.seq);
  }

  get numPending(): number {
    return this.line.length - this.head;
  }

  get numAckPending(): number {
    return this.pending.size;
  }

  /** Every record up to this sequence was delivered and acknowledged. */
  get ackFloor(): number {
    return this.pending.size === 0 ? this.handedOut : Math.min(...this.pending.keys()) - 1;
  }

  get waiting(): number {
    return this.pulls.length;
  }

  /** A message was stored. */
  onStored(message: StoredMessage): void {
    if (!this.wants(message.subject)) return;
    this.line.push(message.seq);
    this.pump();
  }

  onRemoved(): void {
    this.line = this.line.slice(this.head).filter((seq) => this.stream.messages.has(seq));
    this.head = 0;
    for (const seq of [...this.pending.keys()]) if (!this.stream.messages.has(seq)) this.settle(seq);
    this.pump();
  }

  pull(
    inbox: string,
    request: { batch?: number; expires?: number; no_wait?: boolean; idle_heartbeat?: number },
  ): void {
    const batch = request.batch ?? 1;
    const expiresMs = (request.expires ?? 0) / 1e6;
    const pull: Pull = {
      inbox,
      left: batch,
      expiresAtMs: expiresMs > 0 ? this.host.nowMs() + expiresMs : Number.POSITIVE_INFINITY,
      cancel: () => undefined,
    };
    const available = this.numPending + this.again.length;
    if (request.no_wait === true && available === 0) {
      this.host.send(inbox, status(inbox, 404, "No Messages"));
      return;
    }
    this.pulls.push(pull);
    this.watch(pull, (request.idle_heartbeat ?? 0) / 1e6);
    this.pump();
    if (request.no_wait !== true || pull.left <= 0) return;
    this.drop(pull);
    this.host.send(inbox, status(inbox, 404, "No Messages"));
  }

  /** A client's message on the acknowledgement subject of a delivery. */
  acknowledge(seq: number, payload: string): void {
    if (payload === "" || payload.startsWith("+ACK") || payload.startsWith("+TERM")) {
      const known = this.pending.get(seq);
      if (known !== undefined) this.recentAcks.push({ seq, atMs: this.host.nowMs(), dseq: known.dseq });
      this.settle(seq);
      this.pump();
    } else if (payload.startsWith("+WPI")) {
      const known = this.pending.get(seq);
      if (known !== undefined) known.heardAtMs = this.host.nowMs();
    } else if (payload.startsWith("-NAK")) {
      this.handBack(seq, payload.slice(4).trim());
    }
  }

  /** The server ended: it forgets pulls, and acknowledgements that were not on disk yet. */
  restart(forgets: (seq: number) => boolean): void {
    for (const pull of this.pulls) pull.cancel();
    this.pulls = [];
    this.stopTimer?.();
    this.stopTimer = null;
    this.timerAtMs = Number.POSITIVE_INFINITY;
    const now = this.host.nowMs();
    for (const { seq, atMs, dseq } of this.recentAcks) {
      if (now - atMs > FORGET_WINDOW_MS || !this.stream.messages.has(seq) || !forgets(seq)) continue;
      this.pending.set(seq, { dseq, heardAtMs: now });
    }
    this.recentAcks = [];
    this.again = [];
  }

  /** The server is back. */
  resume(): void {
    for (const known of this.pending.values()) known.heardAtMs = Math.max(known.heardAtMs, 0);
    this.checkPending();
  }

  private wants(subject: string): boolean {
    return this.accepts.length === 0 || this.accepts.some((matches) => matches(subject));
  }

  private settle(seq: number): void {
    this.pending.delete(seq);
    this.redeliveries.delete(seq);
    const at = this.again.indexOf(seq);
    if (at >= 0) this.again.splice(at, 1);
  }

  private handBack(seq: number, argument: string): void {
    const known = this.pending.get(seq);
    if (known === undefined) return;
    const delayMs = argument.startsWith("{")
      ? ((JSON.parse(argument) as { delay?: number }).delay ?? 0) / 1e6
      : 0;
    if (delayMs > 0) {
      // Its last sign of life is set back so far that the ack wait ends together with the delay.
      known.heardAtMs = this.host.nowMs() - this.settings.ackWaitMs + delayMs;
      this.arm(delayMs);
      return;
    }
    if (!this.again.includes(seq)) this.again.push(seq);
    this.pump();
  }

  private pump(): void {
    while (this.pulls.length > 0) {
      const pull = this.pulls[0];
      if (pull === undefined) return;
      if (!this.host.hasInterest(pull.inbox)) {
        this.drop(pull);
        continue;
      }
      const message = this.next();
      if (message === null) return;
      this.deliver(pull, message);
    }
  }

  private next(): StoredMessage | null {
    for (let seq = this.again.shift(); seq !== undefined; seq = this.again.shift()) {
      const message = this.stream.messages.get(seq);
      if (message === undefined || !this.pending.has(seq)) continue;
      const count = (this.redeliveries.get(seq) ?? 0) + 1;
      this.redeliveries.set(seq, count);
      if (this.settings.maxDeliver > 0 && count + 1 > this.settings.maxDeliver) continue;
      return message;
    }
    const { maxAckPending } = this.settings;
    if (maxAckPending > 0 && this.pending.size >= maxAckPending) return null;
    while (this.head < this.line.length) {
      const message = this.stream.messages.get(this.line[this.head] ?? 0);
      this.head += 1;
      if (this.head > 256) {
        this.line = this.line.slice(this.head);
        this.head = 0;
      }
      if (message !== undefined) return message;
    }
    return null;
  }

  private deliver(pull: Pull, message: StoredMessage): void {
    const { seq, subject, headers, data, atMs } = message;
    const now = this.host.nowMs();
    this.dseq += 1;
    this.handedOut = Math.max(this.handedOut, seq);
    const known = this.pending.get(seq);
    if (known === undefined) this.pending.set(seq, { dseq: this.dseq, heardAtMs: now });
    else {
      known.heardAtMs = now;
      this.host.onRedelivery?.();
    }
    this.arm(this.settings.ackWaitMs);
    const deliveries = (this.redeliveries.get(seq) ?? 0) + 1;
    const { name } = this.settings;
    const ack = `$JS.ACK.${this.stream.settings.name}.${name}.${deliveries}.${seq}.${this.dseq}.${Math.floor(atMs)}000000.${this.numPending}`;
    pull.left -= 1;
    if (pull.left <= 0) this.drop(pull);
    else this.pulls.push(...this.pulls.splice(this.pulls.indexOf(pull), 1)); // Pulls take turns.
    this.host.send(pull.inbox, { subject, reply: ack, headers, data });
  }

  private drop(pull: Pull): void {
    pull.cancel();
    const at = this.pulls.indexOf(pull);
    if (at >= 0) this.pulls.splice(at, 1);
  }

  private watch(pull: Pull, heartbeatMs: number): void {
    const left = pull.expiresAtMs - this.host.nowMs();
    const beat = heartbeatMs > 0 && heartbeatMs < left;
    if (!beat && !Number.isFinite(left)) return;
    pull.cancel = this.host.after(beat ? heartbeatMs : left, () => {
      if (!beat) return this.expire(pull);
      this.host.send(pull.inbox, status(pull.inbox, 100, "Idle Heartbeat"));
      this.watch(pull, heartbeatMs);
    });
  }

  private expire(pull: Pull): void {
    this.drop(pull);
    const fields = new Map([
      ["Nats-Pending-Messages", String(pull.left)],
      ["Nats-Pending-Bytes", "0"],
    ]);
    this.host.send(pull.inbox, {
      ...status(pull.inbox, 408, "Request Timeout"),
      headers: statusBlock(408, "Request Timeout", fields),
    });
  }

  /** Checks the pending records in `delayMs`, or earlier if a check is planned already. */
  private arm(delayMs: number): void {
    const atMs = this.host.nowMs() + Math.max(0, delayMs);
    if (this.stopTimer !== null && this.timerAtMs <= atMs) return;
    this.stopTimer?.();
    this.timerAtMs = atMs;
    this.stopTimer = this.host.after(delayMs, () => {
      this.stopTimer = null;
      this.timerAtMs = Number.POSITIVE_INFINITY;
      this.checkPending();
    });
  }

  private checkPending(): void {
    const now = this.host.nowMs();
    const { ackWaitMs } = this.settings;
    const expired: number[] = [];
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [seq, known] of this.pending) {
      const leftMs = ackWaitMs - (now - known.heardAtMs);
      if (leftMs > 0.001) nextMs = Math.min(nextMs, leftMs);
      else if (!this.again.includes(seq)) expired.push(seq);
    }
    if (expired.length > 0) {
      expired.sort((a, b) => a - b);
      this.again.push(...expired);
      for (const seq of expired) {
        const known = this.pending.get(seq);
        if (known !== undefined) known.heardAtMs = now;
      }
      nextMs = Math.min(nextMs, ackWaitMs);
    }
    if (Number.isFinite(nextMs)) this.arm(nextMs);
    this.pump();
  }
}

function status(inbox: string, code: number, description: string): Frame {
  return { subject: inbox, reply: null, headers: statusBlock(code, description), data: emptyData };
}
