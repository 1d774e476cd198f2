import type { NatsConnection } from "@nats-io/nats-core";
import { subscribe } from "./subscription.ts";

/** The statistics of one request subject or HTTP route, as shown by `nats micro ls|info|stats`. */
export class EndpointStats {
  readonly name: string;
  /** Of an HTTP route: `http.<METHOD>.<path>`, which no request over NATS reaches. */
  readonly subject: string;
  readonly queue: string;
  readonly metadata: Readonly<Record<string, string>>;
  requests = 0;
  errors = 0;
  lastError = "";
  processingNs = 0;

  constructor(name: string, subject: string, queue: string, metadata: Readonly<Record<string, string>> = {}) {
    this.name = name;
    this.subject = subject;
    this.queue = queue;
    this.metadata = metadata;
  }

  served(durationMs: number, error: string | null): void {
    this.requests += 1;
    this.processingNs += Math.round(durationMs * 1_000_000);
    if (error === null) return;
    this.errors += 1;
    this.lastError = error;
  }
}

export class Endpoints {
  readonly all: EndpointStats[] = [];

  add(name: string, subject: string, queue: string, metadata?: Record<string, string>): EndpointStats {
    const endpoint = new EndpointStats(name, subject, queue, metadata);
    this.all.push(endpoint);
    return endpoint;
  }
}

export interface ServiceIdentity {
  name: string;
  id: string;
  version: string;
  description: string;
  startedAt: Date;
  /** The principal of its NATS user; null: it shares a user that may do everything. */
  principal: string | null;
  /** Why this process cannot store anything; null: it can. */
  readonly noSpace: () => string | null;
}

/** Answers `$SRV.PING|INFO|STATS` (ADR-32), so that the standard tools see every service. Returns how to stop. */
export function answerServiceRequests(
  nc: NatsConnection,
  identity: ServiceIdentity,
  endpoints: Endpoints,
): () => void {
  const { name, id, version } = identity;
  const user = { "nats-user": identity.principal ?? "shared" };
  const who = () => {
    const noSpace = identity.noSpace();
    return { name, id, version, metadata: noSpace === null ? user : { ...user, "no-space": noSpace } };
  };
  const answers = {
    PING: () => ({ type: "io.nats.micro.v1.ping_response", ...who() }),
    INFO: () => ({
      type: "io.nats.micro.v1.info_response",
      ...who(),
      description: identity.description,
      endpoints: endpoints.all.map((one) => ({
        name: one.name,
        subject: one.subject,
        queue_group: one.queue,
        metadata: one.metadata,
      })),
    }),
    STATS: () => ({
      type: "io.nats.micro.v1.stats_response",
      ...who(),
      started: identity.startedAt.toISOString(),
      endpoints: endpoints.all.map((one) => ({
        name: one.name,
        subject: one.subject,
        queue_group: one.queue,
        num_requests: one.requests,
        num_errors: one.errors,
        last_error: one.lastError,
        processing_time: one.processingNs,
        average_processing_time: one.requests === 0 ? 0 : Math.round(one.processingNs / one.requests),
      })),
    }),
  };
  const subscriptions = Object.entries(answers).flatMap(([verb, answer]) =>
    ["", `.${name}`, `.${name}.${id}`].map((scope) =>
      subscribe(nc, `$SRV.${verb}${scope}`, (message) => void message.respond(JSON.stringify(answer()))),
    ),
  );
  return () => {
    for (const subscription of subscriptions) if (!subscription.isClosed()) subscription.unsubscribe();
  };
}
