/**
 * The proxy through which a deployment reaches the outside. Every connection to a host that the deployment does not name
 * itself is a tunnel (CONNECT) through it, so TLS is verified end to end as without it.
 */
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIPv6, type Socket } from "node:net";
import { EgressRefusal } from "../policy/refusal.ts";
import type { Endpoint } from "./resolver.ts";

export interface UpstreamProxy {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  /** The header `proxy-authorization`; null: it wants none. */
  readonly authorization: string | null;
  /** True: the proxy resolves names and decides about addresses. False: it is given checked addresses. */
  readonly byName: boolean;
}

const CONNECT_MS = 15_000;

/** What ends the making of a connection. */
export interface Bounds {
  readonly signal: AbortSignal;
  /** Milliseconds for each of: the answer to CONNECT, and the TLS handshake after it. Default: 15 s. */
  readonly connectMs?: number | undefined;
}

/** Rejects with ANT_EGRESS_UPSTREAM: the proxy cannot be reached, refuses or is late. Rejects with the signal's reason. */
export async function throughProxy(
  proxy: UpstreamProxy,
  { address, port }: Endpoint,
  ca: readonly string[],
  bounds: Bounds,
): Promise<Socket> {
  bounds.signal.throwIfAborted();
  const place = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const headers = {
    host: place,
    ...(proxy.authorization === null ? {} : { "proxy-authorization": proxy.authorization }),
  };
  const { host, scheme } = proxy;
  const asked = { host, port: proxy.port, method: "CONNECT", path: place, headers, agent: false as const };
  const failed = (why: string): EgressRefusal =>
    new EgressRefusal("ANT_EGRESS_UPSTREAM", "proxy:failed", `the upstream proxy: ${why}`);
  const request =
    scheme === "https"
      ? httpsRequest({ ...asked, ca: [...ca], rejectUnauthorized: true, minVersion: "TLSv1.2" })
      : httpRequest(asked);
  const connected = new Promise<Socket>((resolve, reject) => {
    request.on("error", (error: NodeJS.ErrnoException) => reject(failed(error.code ?? error.message)));
    request.on("response", ({ statusCode }) => {
      request.destroy();
      reject(failed(`it answered ${statusCode ?? "nothing"} to CONNECT`));
    });
    request.on("connect", ({ statusCode }, socket: Socket, head) => {
      if (statusCode !== 200) {
        socket.destroy();
        const refused = statusCode === 407 ? "it refuses our credentials (407)" : `it answered ${statusCode}`;
        return reject(failed(refused));
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.on("close", () => reject(failed("it closed the connection")));
    request.end();
  });
  return within(bounds, connected, request, (ms) => failed(`no answer for ${ms} ms`));
}

/** Settles as `work` does. When the signal aborts or the time is over first, rejects and destroys `held`. */
export async function within<T>(
  { signal, connectMs = CONNECT_MS }: Bounds,
  work: Promise<T>,
  held: { destroy(): unknown },
  late: (ms: number) => Error,
): Promise<T> {
  let stop = (_why: Error): void => undefined;
  const ended = new Promise<never>((_, reject) => (stop = reject));
  const timer = setTimeout(() => stop(late(connectMs)), connectMs);
  const aborted = (): void => stop(signal.reason as Error);
  if (signal.aborted) aborted();
  else signal.addEventListener("abort", aborted);
  try {
    return await Promise.race([ended, work]);
  } catch (error) {
    held.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", aborted);
  }
}
