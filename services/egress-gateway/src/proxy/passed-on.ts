/** The way of an answer into the sandbox. */
import type { ServerResponse } from "node:http";
import { Transform, type Readable, type TransformCallback } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Scrubber } from "../policy/scrubber.ts";

/**
 * Passes the answer on to its last byte, and throws the first error.
 *
 * egress-gateway/E7: a response that waits for its turn on a closed connection never ends, and so neither does its pipeline.
 * The signal therefore ends the wait too.
 */
export function passedOn(
  answer: Readable,
  through: Transform,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      // The response also closes after its last byte, which is no error.
      if (!response.writableFinished) reject(signal.reason as Error);
    };
    signal.addEventListener("abort", aborted);
    // These listeners see an error before it closes the response; a closed response looks as if the sandbox had hung up.
    for (const stream of [answer, through]) stream.once("error", reject);
    void pipeline(answer, through, response, { signal })
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", aborted));
    if (signal.aborted) aborted();
  });
}

/** Counts bytes before passing them on, and masks secrets where a scrubber is given. */
export function counting(count: (bytes: number) => void, scrub: Scrubber | null = null): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      try {
        count(chunk.length);
        done(null, scrub === null ? chunk : scrub.push(chunk));
      } catch (error) {
        done(error as Error);
      }
    },
    flush(done: TransformCallback) {
      done(null, scrub === null ? undefined : scrub.end());
    },
  });
}
