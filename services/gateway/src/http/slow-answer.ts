// Sends a JSON answer that takes minutes. Until it is there, a space every few seconds keeps proxies from closing the
// connection; JSON allows space before a value. The status is sent with the first space, so a failure after that is an
// `error` in the body of a 200.
import { PassThrough } from "node:stream";
import type { FastifyReply } from "fastify";
import { errorReply } from "./error-reply.ts";

const BEAT_MS = 5_000;

/** `work` gets a signal that fires when the client has gone away. */
export function answerSlowly(
  reply: FastifyReply,
  work: (signal: AbortSignal) => Promise<object>,
): FastifyReply {
  const body = new PassThrough();
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const beat = setInterval(() => body.write(" "), BEAT_MS);
  void work(gone.signal)
    .catch((error: unknown) => errorReply(error).body)
    .then((answer) => {
      clearInterval(beat);
      body.end(JSON.stringify(answer));
    });
  return reply.type("application/json; charset=utf-8").send(body);
}
