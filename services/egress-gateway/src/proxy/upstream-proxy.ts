/**
 * The proxy through which a deployment reaches the outside. Every connection to a host that the deployment does not name
 * itself is a tunnel (CONNECT) through it, so TLS is verified end to end as without it.
 */
import { Agent as HttpAgent, request as httpRequest, type ClientRequestArgs } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIPv6, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
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

/** Rejects with ANT_EGRESS_UPSTREAM: the proxy cannot be reached, or refuses. */
export function throughProxy(
  proxy: UpstreamProxy,
  { address, port }: Endpoint,
  ca: readonly string[],
): Promise<Socket> {
  const place = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const headers = {
    host: place,
    ...(proxy.authorization === null ? {} : { "proxy-authorization": proxy.authorization }),
  };
  const { host, scheme } = proxy;
  const asked = { host, port: proxy.port, method: "CONNECT", path: place, headers, agent: false as const };
  return new Promise((resolve, reject) => {
    const failed = (why: string): void =>
      reject(new EgressRefusal("ANT_EGRESS_UPSTREAM", "proxy:failed", `the upstream proxy: ${why}`));
    const request =
      scheme === "https"
        ? httpsRequest({ ...asked, ca: [...ca], rejectUnauthorized: true, minVersion: "TLSv1.2" })
        : httpRequest(asked);
    request.setTimeout(CONNECT_MS, () => request.destroy(new Error(`no answer for ${CONNECT_MS} ms`)));
    request.on("error", (error: NodeJS.ErrnoException) => failed(error.code ?? error.message));
    request.on("response", ({ statusCode }) => {
      request.destroy();
      failed(`it answered ${statusCode ?? "nothing"} to CONNECT`);
    });
    request.on("connect", ({ statusCode }, socket: Socket, head) => {
      if (statusCode !== 200) {
        socket.destroy();
        return failed(
          statusCode === 407 ? "it refuses our credentials (407)" : `it answered ${statusCode ?? "nothing"}`,
        );
      }
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.end();
  });
}

type Done = (error: Error | null, socket?: Socket) => void;
type Place = ClientRequestArgs & ConnectionOptions;

const endpointOf = ({ host, port }: Place): Endpoint => ({ address: host ?? "", port: Number(port) });

/** An agent of plain HTTP whose connections are tunnels through the proxy. */
export function proxiedHttpAgent(proxy: UpstreamProxy, ca: readonly string[], options: object): HttpAgent {
  const agent = new HttpAgent(options);
  return tunneling(agent, (place) => throughProxy(proxy, endpointOf(place), ca));
}

/** An agent of HTTPS whose connections are tunnels through the proxy, with TLS inside them. */
export function proxiedHttpsAgent(proxy: UpstreamProxy, ca: readonly string[], options: object): HttpsAgent {
  const agent = new HttpsAgent({ ...options, ca: [...ca] });
  return tunneling(agent, async (place) => {
    const socket = await throughProxy(proxy, endpointOf(place), ca);
    return verified(connectTls({ ...place, socket }));
  });
}

function tunneling<A extends HttpAgent>(agent: A, connect: (place: Place) => Promise<Socket>): A {
  const createConnection = (place: Place, done: Done): undefined => {
    connect(place).then(
      (socket) => done(null, socket),
      (error: unknown) => done(error as Error),
    );
    return undefined;
  };
  return Object.assign(agent, { createConnection });
}

/** Resolves when the name of the certificate is that of the host; a request is sent only then. */
function verified(socket: TLSSocket): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}
