// Server-sent events: streams a run's journal or a session's events as they grow.
//
// Lifecycle of a stream: admitted -> following -> ended (by `closed`, by the client, by a slow client, by drain).
//
// The socket is watched, not the response: Node does not tell a response that waits behind another one (HTTP
// pipelining) that its client has left.
//
// Every end of a stream releases its tail, its log subscription and its timer.
//
// Promises:
//   gateway/G7 Because open runs and streams have a bounded number of places, held from the request on (429 above it),
//     and a client that reads nothing for 10 s is cut off, neither a burst of runs nor slow or abandoned clients
//     exhaust the gateway or affect what it has accepted; a client resumes after the last event it has seen.
import { AntiphonError } from "@antiphon/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { SessionEvent, StoredRecord } from "@antiphon/contracts";
import { BEAT, logFrame, recordFrame, sessionFrame } from "./sse-frame.ts";
import { StreamPlaces } from "./stream-places.ts";
import type { Backend, LiveOutput } from "../ports.ts";

const BEAT_MS = 10_000;
/** Default of EventStreamOptions.slowClientMs. */
const SLOW_CLIENT_MS = 10_000;
const LIVE_BACKLOG_BYTES = 256 * 1024;

/** The live output sent besides records: none, progress messages, or also the output of commands. */
export type LiveLogs = "none" | "progress" | "all";

export interface EventStreamOptions {
  /** Milliseconds a client may leave written data unread. Default 10 s. */
  readonly slowClientMs?: number;
}

export class EventStreams {
  readonly #backend: Backend;
  readonly #slowClientMs: number;
  readonly #open = new Set<AbortController>();
  readonly #places = new StreamPlaces();

  constructor(backend: Backend, { slowClientMs = SLOW_CLIENT_MS }: EventStreamOptions = {}) {
    this.#backend = backend;
    this.#slowClientMs = slowClientMs;
  }

  /**
   * Ends after the run's `closed`. `from`: the sequence of the first record.
   */
  async serve(
    request: FastifyRequest,
    reply: FastifyReply,
    { runId, logs, from }: { runId: string; logs: LiveLogs; from: number },
  ): Promise<void> {
    const hear =
      (write: (frame: string) => void, room: () => boolean) =>
      (output: LiveOutput): void => {
        if (logs === "progress" && output.stream !== "progress") return;
        if (room()) write(logFrame(output)); // Live output is dropped for a slow client.
      };
    await this.#stream(request, reply, {
      follow: (signal) => framesOf(this.#backend.tail(runId, from, signal)),
      listen: (write, room) =>
        logs === "none" ? () => undefined : this.#backend.onOutput(runId, hear(write, room)),
    });
  }

  /** A session has no end, so the stream lasts until the client or the gateway ends it. */
  async serveSession(
    request: FastifyRequest,
    reply: FastifyReply,
    follow: (signal: AbortSignal) => AsyncIterable<SessionEvent>,
  ): Promise<void> {
    const frames = async function* (signal: AbortSignal): AsyncGenerator<Frame> {
      for await (const event of follow(signal)) yield { text: sessionFrame(event), isLast: false };
    };
    await this.#stream(request, reply, { follow: frames, listen: () => () => undefined });
  }

  async #stream(request: FastifyRequest, reply: FastifyReply, { follow, listen }: Source): Promise<void> {
    const watcher = { principal: request.principal, address: request.raw.socket.remoteAddress ?? "" };
    const full = this.#places.take(watcher); // gateway/G7
    if (full !== null) throw new AntiphonError("ANT_GATEWAY_BUSY", full);
    const abort = new AbortController();
    this.#open.add(abort);
    reply.hijack();
    const out = reply.raw;
    const { socket } = request.raw;
    let slow: NodeJS.Timeout | null = null;
    const letGo = (): void => {
      if (socket.destroyed) return;
      slow ??= setTimeout(() => {
        abort.abort();
        socket.destroy(); // gateway/G7: not the response, which may have no socket yet.
      }, this.#slowClientMs);
    };
    const taken = (): void => {
      if (slow !== null) clearTimeout(slow);
      slow = null;
    };
    const gone = (): void => {
      abort.abort();
      taken();
      socket.removeListener("close", gone); // The socket may carry another request.
    };
    socket.setMaxListeners(0); // A client may pipeline as many requests as there are places.
    socket.once("close", gone);
    out.once("close", gone);
    if (out.destroyed || socket.destroyed) gone(); // The client hung up while the run was looked up.
    out.on("drain", taken);
    out.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "x-accel-buffering": "no",
    });
    const write = (frame: string): boolean => {
      const goesOn = out.write(frame);
      if (!goesOn) letGo();
      return goesOn;
    };
    write(BEAT);
    const beat = setInterval(() => write(BEAT), BEAT_MS);
    const mute = listen(write, () => out.writableLength < LIVE_BACKLOG_BYTES);
    try {
      for await (const { text, isLast } of follow(abort.signal)) {
        if (!write(text) && !(await drained(reply, abort.signal))) break;
        if (isLast) break;
      }
    } catch {
      // NATS was lost: the client resumes after its last event and gets 503 until NATS is back.
    } finally {
      clearInterval(beat); // gateway/G7
      mute();
      abort.abort();
      this.#open.delete(abort);
      this.#places.leave(watcher);
      out.end();
      if (!out.writableFinished && !out.destroyed) letGo(); // The client must read the end, too.
    }
  }

  get count(): number {
    return this.#open.size;
  }

  /** Ends every stream; clients reconnect to another gateway. */
  close(): void {
    for (const abort of this.#open) abort.abort();
  }
}

interface Frame {
  readonly text: string;
  readonly isLast: boolean;
}

interface Source {
  readonly follow: (signal: AbortSignal) => AsyncIterable<Frame>;
  /** Writes live output beside the records until the returned function is called. `room()` is false while the client lags. */
  readonly listen: (write: (frame: string) => void, room: () => boolean) => () => void;
}

async function* framesOf(records: AsyncIterable<StoredRecord>): AsyncGenerator<Frame> {
  for await (const record of records) yield { text: recordFrame(record), isLast: record.type === "closed" };
}

/** False: the client is gone or was cut off. */
function drained(reply: FastifyReply, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false); // The client left while a record was read; no event will follow.
  return new Promise((resolve) => {
    const settle = (ok: boolean) => (): void => {
      reply.raw.removeListener("drain", onDrain);
      signal.removeEventListener("abort", onAbort);
      resolve(ok);
    };
    const onDrain = settle(true);
    const onAbort = settle(false);
    reply.raw.once("drain", onDrain);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
