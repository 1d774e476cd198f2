/**
 * Agents of Node whose connections are tunnels through the upstream proxy.
 *
 * Node's agent holds a connection only once it stands, and its request has no socket before, so neither can end one that is
 * being made. The request's signal, the agent's end and a deadline end it here (egress-gateway/E7).
 */
import { Agent as HttpAgent, type ClientRequestArgs } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import type { Endpoint } from "./resolver.ts";
import { throughProxy, within, type UpstreamProxy } from "./upstream-proxy.ts";

type Done = (error: Error | null, socket?: Socket) => void;
/** `until` belongs to the request for which the connection is made; Node keeps that request's `signal` to itself. */
type Place = ClientRequestArgs & ConnectionOptions & { readonly until: AbortSignal };
type Connect = (place: Place, signal: AbortSignal) => Promise<Socket>;

const endpointOf = ({ host, port }: Place): Endpoint => ({ address: host ?? "", port: Number(port) });

/** An agent of plain HTTP whose connections are tunnels through the proxy. */
export function proxiedHttpAgent(
  proxy: UpstreamProxy,
  ca: readonly string[],
  options: object,
  connectMs?: number,
): HttpAgent {
  const agent = new HttpAgent(options);
  return tunneling(agent, (place, signal) =>
    throughProxy(proxy, endpointOf(place), ca, { signal, connectMs }),
  );
}

/** An agent of HTTPS whose connections are tunnels through the proxy, with TLS inside them. */
export function proxiedHttpsAgent(
  proxy: UpstreamProxy,
  ca: readonly string[],
  options: object,
  connectMs?: number,
): HttpsAgent {
  const agent = new HttpsAgent({ ...options, ca: [...ca] });
  return tunneling(agent, async (place, signal) => {
    const bounds = { signal, connectMs };
    const socket = await throughProxy(proxy, endpointOf(place), ca, bounds);
    const tls = connectTls({ ...place, socket });
    return within(bounds, verified(tls), tls, (ms) => new Error(`no TLS handshake for ${ms} ms`));
  });
}

function tunneling<A extends HttpAgent>(agent: A, connect: Connect): A {
  const pending = new Set<AbortController>();
  const createConnection = (place: Place, done: Done): undefined => {
    const { until } = place;
    const stop = new AbortController();
    const aborted = (): void => stop.abort(until.reason);
    if (until.aborted) aborted();
    else until.addEventListener("abort", aborted);
    pending.add(stop);
    const settled = (): void => {
      pending.delete(stop);
      until.removeEventListener("abort", aborted);
    };
    connect(place, stop.signal).then(
      (socket) => {
        settled();
        if (!stop.signal.aborted && !socket.destroyed) return done(null, socket);
        socket.destroy();
        done(stop.signal.aborted ? (stop.signal.reason as Error) : new Error("closed at once"));
      },
      (error: unknown) => {
        settled();
        done(error as Error);
      },
    );
    return undefined;
  };
  const destroyed = agent.destroy.bind(agent);
  const destroy = (): void => {
    for (const stop of pending) stop.abort(new Error("the gateway closed the connection"));
    destroyed();
  };
  return Object.assign(agent, { createConnection, destroy });
}

/** Resolves when the name of the certificate is that of the host; a request is sent only then. */
function verified(socket: TLSSocket): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    // This listener stays: the socket may fail before the request that takes it listens, and that must not end the process.
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("closed in the TLS handshake")));
    socket.once("secureConnect", () => resolve(socket));
  });
}
