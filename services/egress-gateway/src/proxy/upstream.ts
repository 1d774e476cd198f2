/**
 * Sends one request to an upstream server: to the checked address, under the requested name. TLS is always verified against
 * that name; no setting turns this off. A redirect is passed back as an answer, so a client that follows it sends a new
 * request, which is checked anew.
 */
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from "node:http";
import { isIP } from "node:net";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { limits } from "@antiphon/contracts";
import type { Headers } from "./headers.ts";
import { EgressRefusal } from "../policy/refusal.ts";
import type { Target } from "../policy/target.ts";
import type { Resolve } from "./resolver.ts";
import { proxiedHttpAgent, proxiedHttpsAgent } from "./proxied-agents.ts";
import type { UpstreamProxy } from "./upstream-proxy.ts";

const MAX_ANSWER_HEADER_BYTES = 64 * 1024;

export interface Outgoing {
  readonly target: Target;
  readonly method: string;
  readonly headers: Headers;
  /** A stream or the whole body; null: no body. */
  readonly body: Readable | Buffer | null;
  /** Aborts the request, also while its answer arrives. It carries the caller's deadlines. */
  readonly signal: AbortSignal;
  /** Called when the connection stands, so that bytes can leave; not called when the request fails earlier. */
  readonly onLeave?: () => void;
}

export class Upstream {
  readonly #resolve: Resolve;
  readonly #http = new HttpAgent({ keepAlive: true, maxFreeSockets: 16, timeout: limits.egressIdleMs });
  readonly #https: HttpsAgent;
  /** Null: there is no upstream proxy. */
  readonly #proxied: { readonly http: HttpAgent; readonly https: HttpsAgent } | null;

  /** @param connectMs for a connection through the proxy (upstream-proxy.ts) */
  constructor(
    resolve: Resolve,
    ca: readonly string[],
    proxy: UpstreamProxy | null = null,
    connectMs?: number,
  ) {
    this.#resolve = resolve;
    const kept = { keepAlive: true, maxFreeSockets: 16, timeout: limits.egressIdleMs };
    const checked = { ...kept, rejectUnauthorized: true, minVersion: "TLSv1.2" } as const;
    this.#https = new HttpsAgent({ ...checked, ca: [...ca] });
    this.#proxied =
      proxy === null
        ? null
        : {
            http: proxiedHttpAgent(proxy, ca, kept, connectMs),
            https: proxiedHttpsAgent(proxy, ca, checked, connectMs),
          };
  }

  /**
   * Resolves with the answer's head; the body follows as a stream. Throws ANT_EGRESS_UPSTREAM or _ADDRESS, and the signal's
   * reason once it aborts.
   */
  async send({ target, method, headers, body, signal, onLeave }: Outgoing): Promise<IncomingMessage> {
    const streamed = body === null || Buffer.isBuffer(body) ? null : body;
    // The body may fail at any moment, also before the address is known. An error without a listener ends the process.
    streamed?.on("error", () => undefined);
    const { address, port, isProxied = false } = await this.#resolve(target.host, target.port);
    signal.throwIfAborted();
    if (streamed?.errored) throw streamed.errored;
    const isTls = target.scheme === "https";
    const standard = target.port === (isTls ? 443 : 80);
    const options: RequestOptions & { servername?: string; until: AbortSignal } = {
      host: address,
      port,
      method,
      path: target.query === null ? target.path : `${target.path}?${target.query}`,
      headers: { ...headers, host: standard ? target.host : `${target.host}:${target.port}` },
      setHost: false,
      agent: this.#agentFor(isTls, isProxied),
      maxHeaderSize: MAX_ANSWER_HEADER_BYTES,
      insecureHTTPParser: false,
      signal,
      until: signal,
      ...(isTls && isIP(target.host) === 0 ? { servername: target.host } : {}),
    };
    return new Promise((resolve, reject) => {
      const request = (isTls ? httpsRequest : httpRequest)(options, resolve);
      // A connection that is not accepted carries nothing.
      request.once("socket", (socket) => {
        if (socket.connecting) socket.once(isTls ? "secureConnect" : "connect", () => onLeave?.());
        else onLeave?.();
      });
      request.on("error", (error: NodeJS.ErrnoException) => {
        if (error instanceof EgressRefusal) return reject(error);
        if (signal.aborted) return reject(signal.reason as Error);
        reject(failed(target, reasonOf(error)));
      });
      // egress-gateway/E7: on an unexpected 101 Node drops the connection and emits nothing but `close`.
      request.on("close", () => reject(failed(target, "closed without an answer")));
      if (streamed === null) request.end(body ?? undefined);
      else {
        streamed.on("error", (error: Error) => request.destroy(error));
        streamed.pipe(request);
      }
    });
  }

  #agentFor(isTls: boolean, isProxied: boolean): HttpAgent {
    const { http, https } =
      isProxied && this.#proxied !== null ? this.#proxied : { http: this.#http, https: this.#https };
    return isTls ? https : http;
  }

  close(): void {
    for (const agent of [this.#http, this.#https, this.#proxied?.http, this.#proxied?.https])
      agent?.destroy();
  }
}

/** The codes of OpenSSL for a chain that ends at no known authority. */
const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === undefined || !UNKNOWN_AUTHORITY.has(code)) return code ?? message;
  return `${code}: the egress gateway does not know the authority of its certificate; name it in \`upstream_ca_file\``;
}

function failed({ host }: Target, why: string): EgressRefusal {
  return new EgressRefusal("ANT_EGRESS_UPSTREAM", "upstream:failed", `${host}: ${why}`);
}
