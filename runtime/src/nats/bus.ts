import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import { JOURNAL_PARTITIONS, type Principal } from "@antiphon/contracts";
import { allDone } from "../process/all-done.ts";
import { Deadlines } from "../process/deadlines.ts";
import { Connectivity } from "./connectivity.ts";
import { dial, partitionsThere, requireVersion } from "./dial.ts";
import { DirectReader } from "./direct-reader.ts";
import { ForgedDecisions } from "../journal/forged.ts";
import { requireDurability } from "./durability.ts";
import type { Logger } from "../process/logger.ts";
import type { LanePort, Outgoing, PublisherLimits, PublisherStats } from "../publishing/publisher.ts";
import { Publisher, publisherDefaults } from "../publishing/publisher.ts";
import type { PublishResult } from "../publishing/publish-result.ts";
import { StorageRefusals } from "../publishing/storage-refusals.ts";
import { RecordReader } from "../journal/record-reader.ts";
import { ReplyInbox } from "./reply-inbox.ts";
import { Endpoints } from "./service-endpoints.ts";
import { StreamLeader } from "./stream-leader.ts";
import { noTrust, type Trust } from "../journal/trust.ts";
import { silentTracer, type Tracer } from "../tracing/tracer.ts";
import { apiOf, type NatsUser } from "./nats-user.ts";
import { headerBlock } from "./wire-headers.ts";

/**
 * Bus: a process's one connection to NATS and everything that depends on it.
 *
 * Lifecycle: connecting -> up <-> down -> closed. A first connection that fails is an error with a remedy. Once up, the
 * bus reconnects for ever with backoff, and its publisher, tails and pull loops continue by themselves. Connectivity
 * listeners hear every loss and reconnect in order, and nothing after `close`. `close` settles every pending publish
 * and read; it never hangs on a server that is gone.
 *
 * Promises:
 *   runtime/J7 Because the journal is the only truth about a run, a service starts only on a nats-server that fsyncs
 *     before it acknowledges (unless waived explicitly) and kept every stream option asked for, so that a stream is on
 *     disk, refuses records when it is full, and never drops an old one; provisioning loosens none of this.
 */
export interface BusOptions {
  /** One URL or several, comma separated: `nats://127.0.0.1:4222`. */
  servers: string;
  /** Shown by `nats server report connections`. */
  name: string;
  log?: Logger;
  /** Monitoring endpoint(s) of the server(s), comma separated, to learn the sync mode from. */
  monitorUrl?: string;
  /** ANTIPHON_UNSAFE_DURABILITY: accept a server that acknowledges before it fsyncs. */
  unsafeDurability?: boolean;
  /** PEM file with the authorities of the server's certificate; TLS is then demanded. */
  ca?: string;
  token?: string;
  /** The NATS user of a service, in a deployment with users per role. */
  user?: NatsUser;
  /** Whose decisions are believed. Default: none. */
  trust?: Trust;
  /** Time limit of the first connection. Default 5,000. */
  connectTimeoutMs?: number;
  publisher?: Partial<PublisherLimits>;
  /** Default: no traces. */
  tracer?: Tracer;
}

export interface Bus {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly name: string;
  /** The principal whose rights this connection has; null: it has all rights. */
  readonly principal: Principal | null;
  /** Logger of the process; also logs undeliverable messages. */
  readonly log?: Logger;
  readonly connected: boolean;
  readonly durability: "confirmed" | "waived";
  /** Monitoring endpoint(s) of the servers over HTTP, comma separated; absent if they are asked over NATS. */
  readonly monitorUrl?: string;
  /** Several servers hold the streams, so the one that answers may lag behind another one. */
  readonly isCluster: boolean;
  /** Number of journal partitions on the server; one while there is no journal. */
  readonly partitions: number;
  /** Sets the number of partitions of the journal that was created or found. */
  adopt(partitions: number): void;
  readonly reader: DirectReader;
  /** Reads records. One for the connection, so that all readers share its memory of verified records. */
  readonly records: RecordReader;
  /** Whose decisions `records` believes. */
  readonly trust: Trust;
  /** Counts and logs the forged decisions among the messages read. */
  readonly forged: ForgedDecisions;
  readonly tracer: Tracer;
  publish(out: Outgoing, signal?: AbortSignal): Promise<PublishResult>;
  publisherStats(): PublisherStats;
  /** Which streams refuse messages of this process because they are full. */
  readonly storage: StorageRefusals;
  /** Called with true on every reconnect and with false on every loss; returns how to stop listening. */
  onConnectivity(listener: (up: boolean) => void): () => void;
  /** The request subjects that this process serves; shown by `nats micro info`. */
  readonly endpoints: Endpoints;
  /** Registers work to finish before the bus closes; returns how to withdraw it. */
  onDrain(finish: () => Promise<void>): () => void;
  /**
   * Runs everything registered by `onDrain`: new work stops, held work is finished or handed back. If anything fails,
   * it rejects after all of it has ended.
   */
  drain(): Promise<void>;
  /** Flushes, closes, and settles everything pending. */
  close(): Promise<void>;
  /** Resolves when the connection has ended for good. */
  readonly closed: Promise<void>;
}

export async function connectBus(options: BusOptions): Promise<Bus> {
  const nc = await dial(options);
  try {
    requireVersion(nc); // runtime/J7
    const durability = await requireDurability(nc, {
      ...(options.monitorUrl === undefined ? {} : { monitorUrl: options.monitorUrl }),
      unsafe: options.unsafeDurability === true,
    });
    const bus = await busOver(nc, durability, options);
    bus.adopt(await partitionsThere(bus.jsm));
    return bus;
  } catch (error) {
    await nc.close();
    throw error;
  }
}

/** A bus over a connection that is up and has passed the checks. */
export async function busOver(
  nc: NatsConnection,
  durability: "confirmed" | "waived",
  options: BusOptions,
): Promise<Bus> {
  const jsm = await jetstreamManager(nc, { checkAPI: false, timeout: 5000, ...apiOf(options.user) });
  return openBus(nc, jsm, durability, options);
}

function openBus(
  nc: NatsConnection,
  jsm: JetStreamManager,
  durability: "confirmed" | "waived",
  options: BusOptions,
): Bus {
  let partitions = JOURNAL_PARTITIONS;
  const connectivity = new Connectivity();
  const drains = new Set<() => Promise<void>>();
  const inbox = new ReplyInbox(nc, options.log);
  const deadlines = new Deadlines(() => performance.now());
  const publisher = new Publisher({
    send: sender(nc),
    expect: (waiter) => inbox.expect(waiter),
    replySubject: (token) => inbox.subjectOf(token),
    forget: (token) => inbox.forget(token),
    deadlines,
    connected: () => connectivity.isUp,
    note: (out, what) => options.log?.warn({ subject: out.subject, stream: out.stream }, what),
    limits: { ...publisherDefaults, ...options.publisher },
  });
  const leader = nc.info?.cluster === undefined ? null : new StreamLeader(jsm);
  const reader = new DirectReader({ nc, inbox, deadlines, connected: () => connectivity.isUp, leader });

  connectivity.listen((up) => {
    for (const each of [publisher, reader])
      if (up) each.resume();
      else each.suspend();
  });
  void connectivity.watch(nc, options.log);

  const end = (): void => {
    connectivity.end();
    publisher.close();
    reader.close();
  };
  const closed = nc.closed().then(end);

  return {
    nc,
    js: jetstream(nc, { timeout: 5000, ...apiOf(options.user) }),
    jsm,
    ...identityOf(options),
    durability,
    isCluster: leader !== null,
    get partitions() {
      return partitions;
    },
    adopt(there) {
      partitions = there;
    },
    reader,
    records: new RecordReader(options.trust),
    trust: options.trust ?? noTrust,
    forged: new ForgedDecisions(options.log),
    tracer: options.tracer ?? silentTracer,
    get connected() {
      return connectivity.isUp;
    },
    ...publishingBy(publisher, options.log),
    onConnectivity: (listener) => connectivity.listen(listener),
    endpoints: new Endpoints(),
    onDrain(finish) {
      drains.add(finish);
      return () => drains.delete(finish);
    },
    async drain() {
      await allDone([...drains].map((finish) => finish()));
    },
    async close() {
      if (connectivity.isUp) await Promise.race([nc.flush().catch(() => undefined), closed, pause(1000)]);
      inbox.close();
      await nc.close();
      await closed;
    },
    closed,
  };
}

function publishingBy(
  publisher: Publisher,
  log: Logger | undefined,
): Pick<Bus, "publish" | "publisherStats" | "storage"> {
  const storage = new StorageRefusals(log, () => performance.now());
  return {
    async publish(out, signal) {
      const result = await publisher.publish(out, signal);
      storage.note(out.stream, result);
      return result;
    },
    publisherStats: () => publisher.stats(),
    storage,
  };
}

function identityOf({ name, user, log, monitorUrl }: BusOptions) {
  return {
    name,
    principal: user?.principal ?? null,
    ...(log === undefined ? {} : { log }),
    ...(monitorUrl === undefined ? {} : { monitorUrl }),
  };
}

function sender(nc: NatsConnection): LanePort["send"] {
  return (subject, payload, headers, reply) =>
    nc.publish(subject, payload, {
      headers: headerBlock(headers),
      ...(reply === null ? {} : { reply }),
    });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
