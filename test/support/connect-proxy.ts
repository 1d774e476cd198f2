/** A small real HTTP proxy on loopback that only knows CONNECT, with or without TLS and a password. */
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";
import type { SecureContext } from "node:tls";

export interface ConnectProxy {
  readonly port: number;
  /** What it was asked to connect to, `host:port`, and with which credentials. */
  readonly asked: readonly { readonly place: string; readonly authorization: string | undefined }[];
  /** Number of connections that wait for it, where it falls silent. */
  readonly waiting: number;
  close(): Promise<void>;
}

export interface ProxyRules {
  /** `host:port` of the outside, by what is asked for; anything else is refused with 403. */
  readonly ways: ReadonlyMap<string, number>;
  /** The header that it demands; without it the answer is 407. */
  readonly authorization?: string;
  readonly contextFor?: (name: string) => SecureContext;
  /** It falls silent once it is asked, without an answer, or once it has answered 200 and heard the first byte. */
  readonly silentOnce?: "asked" | "answered";
}

export async function startConnectProxy(rules: ProxyRules): Promise<ConnectProxy> {
  const asked: { place: string; authorization: string | undefined }[] = [];
  const open = new Set<Socket>();
  const waiting = new Set<Socket>();
  const silent = (inside: Socket): void => {
    inside.once("end", () => inside.destroy()).once("close", () => waiting.delete(inside));
    if (rules.silentOnce === "asked") waiting.add(inside.resume());
    else {
      inside.write("HTTP/1.1 200 Connection established\r\n\r\n");
      inside.on("data", () => waiting.add(inside));
    }
  };
  const { contextFor } = rules;
  const server =
    contextFor === undefined
      ? createServer()
      : createTlsServer({ SNICallback: (name, done) => done(null, contextFor(name)) });
  server.on("connect", (request: IncomingMessage, inside: Socket, head: Buffer) => {
    const place = request.url ?? "";
    const authorization = request.headers["proxy-authorization"];
    asked.push({ place, authorization });
    open.add(inside.on("error", () => inside.destroy()));
    if (rules.authorization !== undefined && authorization !== rules.authorization)
      return inside.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
    if (rules.silentOnce !== undefined) return silent(inside);
    const port = rules.ways.get(place);
    if (port === undefined) return inside.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
    const outside = connect(port, "127.0.0.1", () => {
      inside.write("HTTP/1.1 200 Connection established\r\n\r\n");
      outside.write(head);
      inside.pipe(outside).pipe(inside);
    });
    open.add(outside.on("error", () => inside.destroy()));
    inside.on("close", () => outside.destroy());
    return undefined;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    get waiting() {
      return waiting.size;
    },
    close: async () => {
      for (const socket of open) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
