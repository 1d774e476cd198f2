/**
 * SimConnection: stands in for the client library's connection, over the simulated network.
 *
 * Lifecycle: up <-> down (broken; messages in flight are lost, messages sent meanwhile wait) -> closed.
 */
import { errors } from "@nats-io/nats-core";
import type { Bus } from "../../../runtime/src/index.ts";
import type { SimNode } from "../node.ts";
import type { Broker, SimSubscription } from "./broker.ts";
import { emptyData, noHeaders, readHeaders, type Frame, type HeaderBlock } from "./wire.ts";

const MAX_PAYLOAD = 8 * 1024 * 1024;
const REQUEST_TIMEOUT_MS = 1000;

interface PublishOptions {
  reply?: string;
  headers?: { encode(): Uint8Array };
}

interface RequestOptions {
  timeout?: number;
  headers?: { encode(): Uint8Array };
}

interface Status {
  type: "disconnect" | "reconnect";
  server: string;
}

export class SimConnection {
  readonly options = {};
  readonly info = { version: "2.15.1", max_payload: MAX_PAYLOAD };
  readonly node: SimNode;
  private readonly broker: Broker;
  private up = true;
  private ended = false;
  /** Counts breaks: a message sent before one does not arrive after it. */
  private breaks = 0;
  private outAtMs = 0;
  private inAtMs = 0;
  private waiting: Frame[] = [];
  /** The last packet on its way to us; its messages are delivered together, as a socket's are. */
  private packet: (() => void)[] | null = null;
  private readonly statuses: Status[] = [];
  private readonly statusWaiters: (() => void)[] = [];
  private readonly subscriptions = new Set<SimSubscription>();
  private readonly endings: (() => void)[] = [];
  private requests = 0;
  /** Added to every message's latency: a client that is slow to read. */
  slowMs = 0;

  constructor(broker: Broker, node: SimNode) {
    this.broker = broker;
    this.node = node;
    broker.connections.add(this);
    // The server notices most deaths at once, and some only after a while of silence.
    node.onCrash(() => {
      const lingersMs = broker.chance.hit(0.7) ? 0 : broker.chance.between(0, 10_000);
      broker.timeline.after(lingersMs, null, () => this.vanish());
    });
  }

  /** The same, in the library's type, for the runtime. */
  asClient(): Bus["nc"] {
    return this as unknown as Bus["nc"];
  }

  get isReachable(): boolean {
    return this.up && !this.ended;
  }

  publish(subject: string, payload?: Uint8Array | string, options: PublishOptions = {}): void {
    if (this.ended) throw new Error("connection closed");
    if (!this.node.act()) return;
    const data = typeof payload === "string" ? Buffer.from(payload) : (payload ?? emptyData);
    if (data.length > MAX_PAYLOAD) throw new Error("payload exceeds the server's maximum");
    const headers = options.headers === undefined ? noHeaders : readHeaders(options.headers.encode());
    const frame: Frame = { subject, reply: options.reply ?? null, headers, data };
    if (this.up) this.transmit(frame);
    else this.waiting.push(frame);
  }

  subscribe(
    subject: string,
    options: { callback: (error: Error | null, message: SimMessage) => void; queue?: string },
  ): { unsubscribe(): void; isClosed(): boolean } {
    const subscription: SimSubscription = {
      subject,
      queue: options.queue ?? null,
      connection: this,
      closed: false,
      receive: (frame) => options.callback(null, new SimMessage(this, frame)),
    };
    if (this.node.alive && !this.ended) {
      this.subscriptions.add(subscription);
      this.broker.subscribe(subscription);
    }
    return {
      unsubscribe: () => this.forget(subscription),
      isClosed: () => subscription.closed,
    };
  }

  request(subject: string, payload?: Uint8Array | string, options: RequestOptions = {}): Promise<SimMessage> {
    this.requests += 1;
    const reply = `_INBOX.${this.node.name}.q${this.requests}`;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        subscription.unsubscribe();
      };
      const subscription = this.subscribe(reply, {
        callback: (_, message) => {
          end();
          const nobody = new errors.NoRespondersError(subject);
          if (message.headers?.code === 503)
            reject(new errors.RequestError(nobody.message, { cause: nobody }));
          else resolve(message);
        },
      });
      const timer = setTimeout(() => {
        end();
        reject(new errors.TimeoutError());
      }, options.timeout ?? REQUEST_TIMEOUT_MS);
      this.publish(subject, payload, {
        reply,
        ...(options.headers === undefined ? {} : { headers: options.headers }),
      });
    });
  }

  /** A message for one of our subscriptions leaves the server. */
  arrive(subscription: SimSubscription, frame: Frame): void {
    const { broker, breaks } = this;
    if (!this.isReachable) return;
    if (broker.chance.hit(broker.weather.loseAnswers)) {
      broker.timeline.mishap("answer lost");
      return broker.timeline.note(`lost answer to ${this.node.name}`);
    }
    const hand = (): void => {
      if (breaks === this.breaks && !subscription.closed) subscription.receive(frame);
    };
    // Messages that arrive during a pause are read together.
    if (this.packet !== null && this.node.pausedUntil > broker.timeline.now) {
      broker.timeline.mishap("read in one go");
      this.packet.push(hand);
      return;
    }
    const packet = [hand];
    this.packet = packet;
    this.inAtMs = Math.max(this.inAtMs, broker.timeline.now + this.way());
    broker.timeline.after(this.inAtMs - broker.timeline.now, this.node, () => {
      if (this.packet === packet) this.packet = null;
      for (const next of packet) next();
    });
  }

  /** The network or the server breaks it; `redial` brings it back. */
  lose(): void {
    if (!this.isReachable) return;
    this.up = false;
    this.breaks += 1;
    this.say("disconnect");
  }

  redial(delayMs: number): void {
    const { timeline } = this.broker;
    timeline.after(delayMs, this.node, () => {
      if (this.up || this.ended || !this.broker.up) return;
      this.up = true;
      this.outAtMs = this.inAtMs = timeline.now;
      for (const frame of this.waiting.splice(0)) this.transmit(frame);
      this.say("reconnect");
    });
  }

  async *status(): AsyncGenerator<Status> {
    while (!this.ended) {
      const next = this.statuses.shift();
      if (next !== undefined) yield next;
      else await new Promise<void>((resolve) => this.statusWaiters.push(resolve));
    }
  }

  async flush(): Promise<void> {
    await this.request("$JS.API.INFO").catch(() => undefined);
  }

  isClosed(): boolean {
    return this.ended;
  }

  closed(): Promise<void> {
    return this.ended ? Promise.resolve() : new Promise((resolve) => this.endings.push(resolve));
  }

  async close(): Promise<void> {
    this.vanish();
    for (const ending of this.endings.splice(0)) ending();
  }

  private vanish(): void {
    this.ended = true;
    this.broker.connections.delete(this);
    for (const subscription of this.subscriptions) this.broker.unsubscribe(subscription);
    this.subscriptions.clear();
  }

  private forget(subscription: SimSubscription): void {
    this.subscriptions.delete(subscription);
    if (!subscription.closed) this.broker.unsubscribe(subscription);
  }

  private transmit(frame: Frame): void {
    const { timeline } = this.broker;
    const { breaks, broker } = this;
    this.outAtMs = Math.max(this.outAtMs, timeline.now + this.way());
    timeline.after(this.outAtMs - timeline.now, broker.node, () => {
      if (breaks === this.breaks) broker.receive(frame);
    });
  }

  private way(): number {
    return this.broker.chance.next() * this.broker.weather.latencyMs + this.slowMs;
  }

  private say(type: Status["type"]): void {
    this.broker.timeline.note(`${type} of ${this.node.name}`);
    this.broker.timeline.after(0, this.node, () => {
      this.statuses.push({ type, server: "simulated" });
      for (const wake of this.statusWaiters.splice(0)) wake();
    });
  }
}

/** A delivered message in the library's form. */
export class SimMessage {
  readonly subject: string;
  readonly reply: string | undefined;
  readonly headers: HeaderBlock | undefined;
  readonly data: Uint8Array;
  private readonly connection: SimConnection;

  constructor(connection: SimConnection, frame: Frame) {
    this.connection = connection;
    this.subject = frame.subject;
    this.reply = frame.reply ?? undefined;
    this.headers = frame.headers;
    this.data = frame.data;
  }

  respond(payload?: Uint8Array | string, options: PublishOptions = {}): boolean {
    if (this.reply === undefined) return false;
    this.connection.publish(this.reply, payload, options);
    return true;
  }

  json<T>(): T {
    return JSON.parse(Buffer.from(this.data).toString("utf8")) as T;
  }
}
