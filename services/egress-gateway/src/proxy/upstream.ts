/**
 * One request to the other side: to the pinned address, under the name that was asked for, with its certificate checked.
 *
 * Invariants:
 *   U3  TLS to the other side is verified against the name, always; there is no switch.
 *   U4  A redirect is an answer like any other: whoever follows it asks again, and is judged again.
 *   U5  A body that is streamed may break at any moment: before its address is known, after its request has failed. It
 *       ends its own request and nothing else: from the first line of send() on, somebody listens for its error.
 *   U6  Every request comes to an answer's head or to a refusal, also when its connection ends without a word: on a
 *       101 that nobody asked for Node drops the connection, and says nothing but "close".
 */
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { limits } from "@antiphon/contracts";
import type { Headers } from "./headers.ts";
import { EgressRefusal } from "../policy/refusal.ts";
import type { Target } from "../policy/target.ts";
import type { Resolve } from "./resolver.ts";

const MAX_ANSWER_HEADER_BYTES = 64 * 1024;

export interface Outgoing {
  readonly target: Target;
  readonly method: string;
  readonly headers: Headers;
  /** Streamed, or whole; null: none. */
  readonly body: Readable | Buffer | null;
  /** Ends it, also when it is being answered; deadlines are whoever aborts it's. */
  readonly signal: AbortSignal;
  /** Called when the request is made, before its first byte can leave; never when it fails before that. */
  readonly onLeave?: () => void;
}

export class Upstream {
  readonly #resolve: Resolve;
  readonly #http = new HttpAgent({ keepAlive: true, maxFreeSockets: 16, timeout: limits.egressIdleMs });
  readonly #https: HttpsAgent;

  constructor(resolve: Resolve, ca: readonly string[]) {
    this.#resolve = resolve;
    this.#https = new HttpsAgent({
      keepAlive: true,
      maxFreeSockets: 16,
      timeout: limits.egressIdleMs,
      ca: [...ca],
      rejectUnauthorized: true, // U3
      minVersion: "TLSv1.2",
    });
  }

  /** Resolves with the answer's head; its body follows. Throws ANT_EGRESS_UPSTREAM or _ADDRESS. */
  async send({ target, method, headers, body, signal, onLeave }: Outgoing): Promise<IncomingMessage> {
    const streamed = body === null || Buffer.isBuffer(body) ? null : body;
    streamed?.on("error", () => undefined); // U5: an error that nobody listens to ends the process
    const { address, port } = await this.#resolve(target.host, target.port);
    signal.throwIfAborted();
    if (streamed?.errored) throw streamed.errored; // U5
    const isTls = target.scheme === "https";
    const standard = target.port === (isTls ? 443 : 80);
    const options: RequestOptions & { servername?: string } = {
      host: address,
      port,
      method,
      path: target.query === null ? target.path : `${target.path}?${target.query}`,
      headers: { ...headers, host: standard ? target.host : `${target.host}:${target.port}` },
      setHost: false,
      agent: isTls ? this.#https : this.#http,
      maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
      insecureHTTPParser: false,
      signal,
      ...(isTls ? { servername: target.host } : {}),
    };
    return new Promise((resolve, reject) => {
      const request = (isTls ? httpsRequest : httpRequest)(options, resolve);
      onLeave?.();
      request.on("error", (error: NodeJS.ErrnoException) => {
        if (error instanceof EgressRefusal || signal.aborted) return reject(error);
        const why = error.code ?? error.message;
        reject(failed(target, why));
      });
      request.on("close", () => reject(failed(target, "closed without an answer"))); // U6: mostly, it has settled before
      if (streamed === null) request.end(body ?? undefined);
      else {
        streamed.on("error", (error: Error) => request.destroy(error));
        streamed.pipe(request);
      }
    });
  }

  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }
}

function failed({ host }: Target, why: string): EgressRefusal {
  return new EgressRefusal("ANT_EGRESS_UPSTREAM", "upstream:failed", `${host}: ${why}`);
}
