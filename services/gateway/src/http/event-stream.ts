// Server-sent events: a run's journal as it grows.
//
// Lifecycle of a stream: admitted -> following -> ended (by `closed`, by the client, by a slow client, by drain).
//
// Invariants:
//   E1 At most limits.sseClients streams are open, fewer for one principal and for one remote address; the next one is
//      refused with 429.
//   E2 A client that does not read is let go after 10 s, whatever was written to it: its connection is cut, so that it
//      holds nothing. What it misses it gets by resuming. Live output is dropped for it at once.
//   E3 Whatever ends a stream, its tail, its log subscription and its timer are gone.
//   E4 A stream that waits behind another answer of its connection ends with that connection. Node tells such a
//      response nothing, neither that the client left nor that it was destroyed: the socket is what is listened to.
import { AntiphonError } from "@antiphon/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import { BEAT, logFrame, recordFrame, resumeFrom } from "./sse-frame.ts";
import { StreamPlaces } from "./stream-places.ts";
import type { Backend, LiveOutput } from "../ports.ts";

const BEAT_MS = 10_000;
/** Default of EventStreamOptions.slowClientMs. */
const SLOW_CLIENT_MS = 10_000;
const LIVE_BACKLOG_BYTES = 256 * 1024;

/** Live output a client asks for beside the records: none, what work is at, or also what commands print. */
export type LiveLogs = "none" | "progress" | "all";

export interface EventStreamOptions {
  /** Milliseconds a client may leave what was written to it untaken. Default 10 s. */
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

  async serve(request: FastifyRequest, reply: FastifyReply, runId: string, logs: LiveLogs): Promise<void> {
    const watcher = { principal: request.principal, address: request.raw.socket.remoteAddress ?? "" };
    const full = this.#places.take(watcher); // E1
    if (full !== null) throw new AntiphonError("ANT_GATEWAY_BUSY", full);
    const lastSeen = request.headers["last-event-id"];
    const from = resumeFrom(typeof lastSeen === "string" ? lastSeen : undefined);
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
        socket.destroy(); // E2, E4: the response may have no socket yet.
      }, this.#slowClientMs);
    };
    const taken = (): void => {
      if (slow !== null) clearTimeout(slow);
      slow = null;
    };
    const gone = (): void => {
      abort.abort();
      taken();
      socket.removeListener("close", gone); // Another request may come over it.
    };
    socket.setMaxListeners(0); // A client may send as many requests at once as there are places.
    socket.once("close", gone); // E4
    out.once("close", gone);
    if (out.destroyed || socket.destroyed) gone(); // Hung up while we looked whether the run exists.
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
    const hear = (output: LiveOutput): void => {
      if (logs === "progress" && output.stream !== "progress") return;
      if (out.writableLength < LIVE_BACKLOG_BYTES) write(logFrame(output)); // E2
    };
    const mute = logs === "none" ? () => undefined : this.#backend.onOutput(runId, hear);
    try {
      for await (const record of this.#backend.tail(runId, from, abort.signal)) {
        if (!write(recordFrame(record)) && !(await drained(reply, abort.signal))) break;
        if (record.type === "closed") break;
      }
    } catch {
      // NATS went away: the client resumes behind its last event and is told 503 until NATS is back.
    } finally {
      clearInterval(beat); // E3
      mute();
      abort.abort();
      this.#open.delete(abort);
      this.#places.leave(watcher);
      out.end();
      if (!out.writableFinished && !out.destroyed) letGo(); // the last of it has to be taken, too
    }
  }

  get count(): number {
    return this.#open.size;
  }

  /** Ends every stream; clients come back to another gateway. */
  close(): void {
    for (const abort of this.#open) abort.abort();
  }
}

/** False: the client is gone, or was let go. */
function drained(reply: FastifyReply, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false); // It left while a record was read: no event will say so again.
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
