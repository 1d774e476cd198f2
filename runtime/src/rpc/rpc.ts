import { setTimeout as sleep } from "node:timers/promises";
import { errors, type Msg } from "@nats-io/nats-core";
import { AntiphonError, HEADERS, MSGPACK, decode, encode, isErrorCode, limits } from "@antiphon/contracts";
import { gather } from "./gather.ts";
import { parseTraceparent, traceparentOf } from "@antiphon/contracts/tracing/trace-context";
import { backoffMs } from "../process/backoff.ts";
import type { Bus } from "../nats/bus.ts";
import type { Logger } from "../process/logger.ts";
import { levelOf } from "../journal/record-line.ts";
import { objectIn, subscribe } from "../nats/subscription.ts";
import { headersOf, wireHeaders } from "../nats/wire-headers.ts";

/**
 * Requests and hints over core NATS. The server keeps none of them, so none of them is a fact.
 *
 * A failed request is answered with `{ok: false, code, message, remedy}`, including one that is not MessagePack or not
 * an object. A stopping service leaves the queue group first and then finishes the requests it has.
 */
export interface RpcOptions {
  log?: Logger;
  /** Shown by `nats micro info`. Default: last token of the subject. */
  name?: string;
}

/** Serves a subject and answers `{ok: true, ...result}`. Ends with the bus's drain or the returned function. */
export function serveRpc<Request, Reply extends object>(
  bus: Bus,
  subject: string,
  queue: string,
  handler: (request: Request) => Promise<Reply>,
  options: RpcOptions = {},
): () => Promise<void> {
  return serve(bus, subject, queue, options, async (message) => {
    const reply = await handler(requestIn<Request>(message));
    respond(message, { ok: true, ...reply });
  });
}

/** Serves a subject with any number of answers per request; the handler marks the last one. */
export function serveRpcStream<Request, Event extends object>(
  bus: Bus,
  subject: string,
  queue: string,
  handler: (request: Request, emit: (event: Event) => void) => Promise<void>,
  options: RpcOptions = {},
): () => Promise<void> {
  // Async, so that anything thrown here becomes an answer (runtime/J5).
  return serve(bus, subject, queue, options, async (message) => {
    await handler(requestIn<Request>(message), (event) => {
      if (!bus.nc.isClosed()) respond(message, event);
    });
  });
}

/** Throws ANT_CONTRACT_INVALID for an unreadable request. The handler checks its shape. */
function requestIn<Request>({ data }: Msg): Request {
  const value = decode(data);
  if (typeof value === "object" && value !== null) return value as Request;
  throw new AntiphonError("ANT_CONTRACT_INVALID", "a request must be an object");
}

function serve(
  bus: Bus,
  subject: string,
  queue: string,
  options: RpcOptions,
  answer: (message: Msg) => Promise<void>,
): () => Promise<void> {
  const endpoint = bus.endpoints.add(options.name ?? subject.split(".").at(-1) ?? subject, subject, queue);
  const running = new Set<Promise<void>>();
  const subscription = subscribe(
    bus.nc,
    subject,
    (message) => {
      const startedAt = performance.now();
      const work = traced(bus, endpoint.name, message, () => answer(message))
        .then(() => endpoint.served(performance.now() - startedAt, null))
        .catch((thrown: unknown) => {
          const failure = AntiphonError.from(thrown);
          endpoint.served(performance.now() - startedAt, failure.detail);
          const { code, detail, remedy } = failure;
          options.log?.[levelOf(failure)]({ subject, code, err: thrown }, "request failed");
          if (!bus.nc.isClosed()) respond(message, { ok: false, code, message: detail, remedy }); // runtime/J5
        })
        .finally(() => running.delete(work));
      running.add(work);
    },
    { queue, log: options.log ?? bus.log },
  );
  const stop = async (): Promise<void> => {
    if (!subscription.isClosed()) subscription.unsubscribe();
    await Promise.all(running);
    offDrain(); // last, so that a second drain of the bus waits for requests still running
  };
  const offDrain = bus.onDrain(stop);
  return stop;
}

/** A request of a trace is a span below its stage. */
function traced(bus: Bus, name: string, message: Msg, work: () => Promise<void>): Promise<void> {
  const { tracer } = bus;
  const parent = tracer.isOn ? parseTraceparent(headersOf(message)(HEADERS.traceparent)) : null;
  if (parent === null) return work();
  const attributes = { "messaging.system": "nats", "messaging.destination.name": message.subject };
  return tracer.span({ name, kind: "server", parent, attributes }, work);
}

/** The headers of a request: they carry the trace around, if there is one. */
export function requestHeaders({ tracer }: Bus): Record<string, string> {
  const context = tracer.outgoing();
  const trace = context === null ? {} : { [HEADERS.traceparent]: traceparentOf(context) };
  return { [HEADERS.contentType]: MSGPACK, ...trace };
}

function respond(message: Msg, value: object): void {
  message.respond(encode(value), { headers: wireHeaders({ [HEADERS.contentType]: MSGPACK }) });
}

/** Sends a request and waits for one answer. Throws the answered AntiphonError, or ANT_RPC_TIMEOUT. */
export async function callRpc<Reply extends object>(
  bus: Bus,
  subject: string,
  request: object,
  options: { timeoutMs?: number } = {},
): Promise<Reply & { ok: true }> {
  const until = performance.now() + (options.timeoutMs ?? limits.rpcTimeoutMs);
  const payload = encode(request);
  let reason = "no answer in time";
  for (let attempt = 0; ; attempt += 1) {
    const timeout = until - performance.now();
    if (timeout <= 0)
      throw new AntiphonError("ANT_RPC_TIMEOUT", `${subject}: ${reason}`, { data: { subject } });
    try {
      const headers = wireHeaders(requestHeaders(bus));
      const message = await bus.nc.request(subject, payload, { timeout: Math.ceil(timeout), headers });
      return opened<Reply>(decode(message.data));
    } catch (error) {
      if (error instanceof AntiphonError) throw error;
      if (bus.nc.isClosed())
        throw new AntiphonError("ANT_NATS_UNREACHABLE", "the bus is closed", { cause: error });
      // Nobody listens yet, or the connection was lost before an answer: retry until the deadline.
      reason =
        error instanceof errors.RequestError && error.isNoResponders() ? "no service listens" : String(error);
      await sleep(backoffMs(attempt, { baseMs: 50, capMs: 500 }, Math.random()));
    }
  }
}

function opened<Reply extends object>(value: unknown): Reply & { ok: true } {
  const reply = (value ?? {}) as { ok?: boolean; code?: string; message?: string };
  if (reply.ok === true) return value as Reply & { ok: true };
  const code = isErrorCode(reply.code) ? reply.code : "ANT_INTERNAL";
  throw new AntiphonError(code, reply.message ?? "the service failed without giving a reason");
}

/** Asks everybody who serves the subject, and collects the answers. Late answers and refusals are left out. */
export function askAll<Reply extends object>(
  bus: Bus,
  subject: string,
  maxWaitMs: number,
): Promise<(Reply & { ok: true })[]> {
  return gather(bus, [subject], { expect: Infinity, maxWaitMs, payload: encode({}) }, (data) => {
    const reply: { ok?: unknown } | null = objectIn(data);
    return reply?.ok === true ? (reply as Reply & { ok: true }) : null;
  });
}

/** Sends a hint to all listeners. It may be lost. */
export function tell(bus: Bus, subject: string, value: object): void {
  if (bus.nc.isClosed()) return;
  bus.nc.publish(subject, encode(value), { headers: wireHeaders({ [HEADERS.contentType]: MSGPACK }) });
}

/** Listens to hints of `tell`. Drops a payload that is not a MessagePack object. Returns how to stop. */
export function listen<T>(bus: Bus, subject: string, hear: (value: T, subject: string) => void): () => void {
  let isTold = false;
  const take = (message: Msg): void => {
    const value = objectIn(message.data);
    if (value !== null) return hear(value as T, message.subject);
    if (!isTold) bus.log?.debug({ subject }, "malformed hint dropped");
    isTold = true;
  };
  const subscription = subscribe(bus.nc, subject, take, { log: bus.log });
  return () => {
    if (!subscription.isClosed()) subscription.unsubscribe();
  };
}
