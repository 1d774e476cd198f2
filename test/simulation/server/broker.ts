/**
 * Broker: core NATS in front of the JetStream model, and the network between it and its clients.
 *
 * Each connection is one stream of bytes, in which messages arrive in order. There is no order between two connections, or
 * between two parts of the server behind one connection (a stream and its direct gets). A faulty network loses whole
 * messages in either direction, repeats requests, and breaks connections.
 *
 * Lifecycle: up <-> down. A server that goes down loses its memory and keeps its stored messages.
 */
import type { Chance } from "../chance.ts";
import { SimNode } from "../node.ts";
import type { Scheduled, Timeline } from "../timeline.ts";
import { JetStreamModel } from "./jetstream-model.ts";
import type { SimConnection } from "./connection.ts";
import { isWild, matcher, type Matches } from "./subject-filter.ts";
import { emptyData, statusBlock, type Frame } from "./wire.ts";

export interface Weather {
  /** Probability that a message is lost on its way to the server. */
  loseRequests: number;
  loseAnswers: number;
  repeatRequests: number;
  /** Milliseconds one way, at most. */
  latencyMs: number;
}

export const FAIR: Weather = { loseRequests: 0, loseAnswers: 0, repeatRequests: 0, latencyMs: 1 };

export interface SimSubscription {
  readonly subject: string;
  readonly queue: string | null;
  readonly connection: SimConnection;
  closed: boolean;
  receive(frame: Frame): void;
}

export class Broker {
  readonly timeline: Timeline;
  readonly chance: Chance;
  readonly jetstream: JetStreamModel;
  weather: Weather = FAIR;
  /** The process; a restart makes a new one. */
  node: SimNode;
  up = true;
  readonly connections = new Set<SimConnection>();
  private readonly exact = new Map<string, SimSubscription[]>();
  private readonly inboxes = new Map<string, SimSubscription[]>();
  /** By first token; those that start with a wildcard are under "". */
  private readonly wild = new Map<string, { matches: Matches; subscription: SimSubscription }[]>();
  /** The matches of `wild` for a subject, until a subscription is added or removed. */
  private readonly byWild = new Map<string, readonly SimSubscription[]>();
  private starts = 0;

  constructor(timeline: Timeline, chance: Chance) {
    this.timeline = timeline;
    this.chance = chance;
    this.node = this.newNode();
    this.jetstream = new JetStreamModel({
      nowMs: () => timeline.now,
      wallMs: () => this.wallMs(),
      after: (delayMs, run) => {
        const event: Scheduled = timeline.after(delayMs, this.node, run);
        return () => timeline.cancel(event);
      },
      send: (inbox, frame) => this.route(inbox, frame),
      onRedelivery: () => timeline.mishap("delivered again"),
      hasInterest: (inbox) => this.subscribers(inbox).some(({ connection }) => connection.isReachable),
    });
  }

  /** The clock of the server's host, in whole milliseconds since 1970. */
  wallMs(): number {
    return Math.floor(Date.UTC(2026, 0, 1) + this.timeline.now + this.node.wallOffsetMs);
  }

  subscribe(subscription: SimSubscription): void {
    const { subject } = subscription;
    if (!isWild(subject)) push(this.exact, subject, subscription);
    else if (subject.startsWith("_INBOX.") && subject.endsWith(".*")) {
      push(this.inboxes, subject.slice(0, -1), subscription);
    } else {
      push(this.wild, rootOf(subject), { matches: matcher(subject), subscription });
      this.byWild.clear();
    }
  }

  unsubscribe(subscription: SimSubscription): void {
    const { subject } = subscription;
    subscription.closed = true;
    if (!isWild(subject)) return drop(this.exact, subject, subscription);
    drop(this.inboxes, subject.slice(0, -1), subscription);
    this.byWild.clear();
    const root = rootOf(subject);
    const others = this.wild.get(root)?.filter((one) => one.subscription !== subscription) ?? [];
    if (others.length > 0) this.wild.set(root, others);
    else this.wild.delete(root);
  }

  /** A message that arrives over a connection. */
  receive(frame: Frame): void {
    const { subject, reply } = frame;
    const { jetstream } = this;
    if (this.chance.hit(this.weather.loseRequests)) {
      this.timeline.mishap("request lost");
      return this.timeline.note(`lost request ${shown(subject)}`);
    }
    if (this.chance.hit(this.weather.repeatRequests)) {
      this.timeline.mishap("request repeated");
      this.timeline.after(this.chance.between(0, 50), this.node, () => this.serve(frame));
    }
    const reached = this.route(subject, frame);
    if (jetstream.serves(subject)) return this.serve(frame);
    if (!reached && reply !== null) {
      this.route(reply, { subject: reply, reply: null, headers: statusBlock(503, ""), data: emptyData });
    }
  }

  private serve(frame: Frame): void {
    if (!this.jetstream.serves(frame.subject)) return;
    // Writes to a stream keep their order; other threads of the server do everything else.
    const elsewhere = frame.subject.startsWith("$JS.") && this.chance.hit(0.3);
    if (!elsewhere) return this.jetstream.handle(frame);
    this.timeline.mishap("served out of order");
    this.timeline.after(this.chance.between(0, 2), this.node, () => this.jetstream.handle(frame));
  }

  /** Delivers to all subscribers. False: there are none. */
  private route(address: string, frame: Frame): boolean {
    const found = this.subscribers(address);
    const [only] = found;
    // The server forgets the subscriptions of a connection that broke.
    if (only === undefined || !found.some(({ connection }) => connection.isReachable)) return false;
    if (found.length === 1 && only.queue === null) {
      only.connection.arrive(only, frame);
      return true;
    }
    const queues = new Map<string, SimSubscription[]>();
    for (const one of found) {
      if (one.queue === null) one.connection.arrive(one, frame);
      else push(queues, one.queue, one);
    }
    for (const members of queues.values()) {
      const one = this.chance.pick(members);
      one.connection.arrive(one, frame);
    }
    return true;
  }

  private subscribers(address: string): readonly SimSubscription[] {
    const exact = this.exact.get(address) ?? NOBODY;
    const others = address.startsWith("_INBOX.")
      ? (this.inboxes.get(address.slice(0, address.lastIndexOf(".") + 1)) ?? NOBODY)
      : this.wildSubscribers(address);
    if (others.length === 0) return exact;
    return exact.length === 0 ? others : [...exact, ...others];
  }

  private wildSubscribers(address: string): readonly SimSubscription[] {
    let found = this.byWild.get(address);
    if (found === undefined) {
      found = [rootOf(address), ""].flatMap((root) =>
        (this.wild.get(root) ?? [])
          .filter(({ matches }) => matches(address))
          .map(({ subscription }) => subscription),
      );
      this.byWild.set(address, found);
    }
    return found;
  }

  /** The server process ends, and comes back after `downMs`. It may forget the latest acknowledgements. */
  restart(downMs: number): void {
    if (!this.up) return;
    this.timeline.note("server down");
    this.up = false;
    this.node.crash();
    this.jetstream.crash(() => {
      const isForgotten = this.chance.hit(0.5);
      if (isForgotten) this.timeline.mishap("acknowledgement forgotten");
      return isForgotten;
    });
    for (const connection of this.connections) connection.lose();
    this.timeline.after(downMs, null, () => {
      this.timeline.note("server up");
      this.node = this.newNode();
      this.up = true;
      this.jetstream.resume();
      for (const connection of this.connections) connection.redial(this.chance.between(5, 500));
    });
  }

  private newNode(): SimNode {
    this.starts += 1;
    return new SimNode(`server-${this.starts}`, "server", this.timeline, this.chance);
  }
}

const NOBODY: readonly SimSubscription[] = [];

/** Inboxes have names of their own in each process; a trace leaves them out. */
export function shown(subject: string): string {
  return subject.startsWith("_INBOX") ? "_INBOX" : subject;
}

/** First token of a subject; "" where that is a wildcard. */
function rootOf(subject: string): string {
  const root = subject.slice(0, Math.max(0, subject.indexOf(".")));
  return root === "*" ? "" : root;
}

function push<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function drop<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  const at = list?.indexOf(item) ?? -1;
  if (list === undefined || at < 0) return;
  list.splice(at, 1);
  if (list.length === 0) lists.delete(key);
}
