// Sends a JSON answer that takes minutes. Until it is there, a space every few seconds keeps proxies from closing the
// connection; JSON allows space before a value. The status is sent with the first space, so a failure after that is an
// `error` in the body of a 200. A client that accepts events gets what the work is at, and the answer as the last event.
import { PassThrough } from "node:stream";
import type { FastifyReply } from "fastify";
import type { LiveOutput } from "../ports.ts";
import { errorReply } from "./error-reply.ts";
import { answerFrame, BEAT, logFrame } from "./sse-frame.ts";

const BEAT_MS = 5_000;
/** News is dropped for a client that leaves so much unread. */
const BACKLOG_BYTES = 256 * 1024;

type Work = (signal: AbortSignal) => Promise<object>;

/** `work` gets a signal that fires when the client has gone away. */
export function answerSlowly(reply: FastifyReply, work: Work): FastifyReply {
  const body = new PassThrough();
  send(reply, work, body, { beat: " ", end: JSON.stringify });
  return reply.type("application/json; charset=utf-8").send(body);
}

/** `listen` returns how to stop listening. */
export function answerWithNews(
  reply: FastifyReply,
  work: Work,
  listen: (hear: (news: LiveOutput) => void) => () => void,
): FastifyReply {
  const body = new PassThrough();
  const mute = listen((news) => {
    const unread = body.writableLength + body.readableLength;
    if (!body.writableEnded && unread < BACKLOG_BYTES) body.write(logFrame(news));
  });
  reply.raw.once("close", mute);
  send(reply, work, body, { beat: BEAT, end: answerFrame });
  return reply.header("x-accel-buffering", "no").type("text/event-stream; charset=utf-8").send(body);
}

function send(
  reply: FastifyReply,
  work: Work,
  body: PassThrough,
  { beat, end }: { beat: string; end: (answer: object) => string },
): void {
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const beating = setInterval(() => body.write(beat), BEAT_MS);
  void work(gone.signal)
    .catch((error: unknown) => errorReply(error).body)
    .then((answer) => {
      clearInterval(beating);
      body.end(end(answer));
    });
}
