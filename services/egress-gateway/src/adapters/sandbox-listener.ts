/**
 * The listener of one sandbox: TCP, a token on the first line of every connection, then an HTTP proxy.
 *
 * Lifecycle: listening -> held (its control connection is up) -> closed. It closes when told to, when the control
 * connection ends, or when none comes within the handshake's time.
 *
 * Invariants:
 *   L3  One sandbox, one listener, one token: a connection without it gets nothing, not even an answer.
 *   L4  The token dies with the listener, and every connection with it.
 *   L5  In a tunnel CONNECT, SNI and Host say one name, or nothing passes.
 *   L6  A connection that dawdles (token, header, handshake, silence) is closed by a deadline.
 */
import { timingSafeEqual } from "node:crypto";
import { createServer as createHttpServer, type IncomingMessage, type Server as HttpServer } from "node:http";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { ERRORS, limits } from "@antiphon/contracts";
import { readClientHello, type ClientHello } from "../core/client-hello.ts";
import { parseAuthority, type Authority } from "../core/host-name.ts";
import type { LogEntry } from "../core/log-entry.ts";
import { ruleFor } from "../core/policy.ts";
import { EgressRefusal } from "../core/refusal.ts";
import { exchange, refusalBody, type ExchangePorts } from "../exchange.ts";
import type { SandboxAuthority } from "./authority.ts";
import { firstLine, firstBytes } from "./first-bytes.ts";
import { passThrough } from "./tunnel.ts";
import type { Resolve } from "./resolver.ts";

export interface ListenerOptions {
  /** 64 hexadecimal digits. */
  readonly token: string;
  readonly ports: ExchangePorts;
  readonly authority: SandboxAuthority;
  readonly resolve: Resolve;
  /** The control connection ended, or never came. */
  readonly onAbandoned: () => void;
}

export class SandboxListener {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #http: HttpServer;
  readonly #sockets = new Set<Socket>();
  readonly #tunnels = new WeakMap<Duplex, Authority>();
  #held = false;
  #closed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#server = createServer({ noDelay: true }, (socket) => void this.#greet(socket));
    this.#http = createHttpServer(
      {
        maxHeaderSize: limits.egressHeaderBytes,
        headersTimeout: limits.egressHandshakeMs, // L6
        requestTimeout: limits.egressRequestMs,
        keepAliveTimeout: limits.egressIdleMs,
        connectionsCheckingInterval: 1_000,
        insecureHTTPParser: false,
        requireHostHeader: false, // a missing one is refused with its rule, and logged
      },
      (request, response) =>
        void exchange(request, response, this.#tunnels.get(request.socket) ?? null, options.ports),
    );
    this.#http.on("connect", (request, socket, head) => void this.#connect(request, socket as Socket, head));
    this.#http.on("clientError", (error: NodeJS.ErrnoException, socket) => this.#unreadable(error, socket));
  }

  /** Tries `ports` in order; 0: any free one. */
  async listen(host: string, ports: Iterable<number>): Promise<number> {
    for (const port of ports) {
      const bound = await new Promise<number | null>((resolve, reject) => {
        const fail = (error: NodeJS.ErrnoException): void =>
          error.code === "EADDRINUSE" ? resolve(null) : reject(error);
        this.#server.once("error", fail);
        this.#server.listen(port, host, () => {
          this.#server.off("error", fail);
          resolve((this.#server.address() as AddressInfo).port);
        });
      });
      if (bound === null) continue;
      // The proxy hears of its connections from here; this starts the clocks of its deadlines (L6).
      this.#http.emit("listening");
      setTimeout(() => {
        if (!this.#held) this.#abandon();
      }, limits.egressHandshakeMs).unref();
      return bound;
    }
    throw new EgressRefusal("ANT_EGRESS_BUSY", "listener:ports", "every port of the range is taken");
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#server.close();
    this.#http.close();
    for (const socket of this.#sockets) socket.destroy(); // L4
  }

  #abandon(): void {
    if (!this.#closed) this.#options.onAbandoned();
  }

  async #greet(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.on("error", () => undefined); // its end is told by close
    socket.setTimeout(limits.egressIdleMs, () => socket.destroy()); // L6
    const line = await firstLine(socket, 128, limits.egressHandshakeMs);
    const [token = "", kind = ""] = (line ?? "").split(" ");
    if (this.#closed || !sameToken(token, this.#options.token)) return void socket.destroy(); // L3
    if (kind === "data") this.#http.emit("connection", socket);
    else if (kind === "control" && !this.#held) this.#hold(socket);
    else socket.destroy();
  }

  #hold(socket: Socket): void {
    this.#held = true;
    socket.setTimeout(0).setKeepAlive(true, 5_000);
    socket.once("close", () => this.#abandon());
    socket.resume().write("ok\n");
  }

  async #connect(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const { ports, authority, resolve } = this.#options;
    const startedAt = ports.now();
    let to: Authority = { host: "", port: 0 };
    let tunneled: { readonly up: number; readonly down: number } | null = null;
    try {
      if (this.#tunnels.has(socket)) throw malformed("tunnel:nested", "a tunnel in a tunnel");
      to = parseAuthority(request.url ?? "", null);
      const rule = ruleFor(ports.policy, to.host, to.port, ports.known);
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      if (head.length > 0) socket.unshift(head);
      const hello = await this.#hello(socket);
      const name = parseAuthority(hello.serverName, to.port).host;
      if (name !== to.host)
        throw new EgressRefusal(
          "ANT_EGRESS_MISMATCH",
          "tunnel:name",
          `CONNECT ${to.host}, and TLS for ${name}`,
        ); // L5
      if (rule.terminate) return this.#terminate(socket, to, authority);
      if (hello.hidesName)
        throw new EgressRefusal("ANT_EGRESS_MISMATCH", "tunnel:hidden", "the name is encrypted"); // L5
      ports.quota.request();
      tunneled = { up: 0, down: 0 };
      tunneled = await passThrough(socket, await resolve(to.host, to.port), ports.quota);
      ports.log(tunnelEntry(to, startedAt, ports.now(), null, tunneled));
    } catch (error) {
      const fault = error instanceof EgressRefusal ? error : malformed("tunnel:broken", String(error));
      ports.log(tunnelEntry(to, startedAt, ports.now(), fault, tunneled));
      refuse(socket, fault);
    }
  }

  async #hello(socket: Socket): Promise<ClientHello> {
    const hello = await firstBytes(socket, readClientHello, limits.egressHandshakeMs);
    if (hello === null) throw malformed("tunnel:silent", "no TLS handshake in the tunnel");
    return hello;
  }

  #terminate(socket: Socket, to: Authority, authority: SandboxAuthority): void {
    const tls = new TLSSocket(socket, {
      isServer: true,
      secureContext: authority.contextFor(to.host),
      ALPNProtocols: ["http/1.1"],
    });
    tls.on("error", () => socket.destroy());
    this.#tunnels.set(tls, to);
    this.#http.emit("connection", tls);
  }

  /** What the parser cannot read in one way is answered and closed. */
  #unreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
    const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    const fault = isLate
      ? new EgressRefusal("ANT_EGRESS_TIMEOUT", "header:slow", "the request did not come in time")
      : malformed("header:syntax", error.code ?? error.message);
    if (error.code === "ECONNRESET" || error.code === "EPIPE") return void socket.destroy();
    const { ports } = this.#options;
    const to = this.#tunnels.get(socket) ?? { host: "", port: 0 };
    ports.log({ ...tunnelEntry(to, ports.now(), ports.now(), fault, null), method: "" });
    refuse(socket, fault);
  }
}

function sameToken(given: string, token: string): boolean {
  return (
    given.length === token.length &&
    timingSafeEqual(Buffer.from(given, "latin1"), Buffer.from(token, "latin1"))
  );
}

function refuse(socket: Duplex, fault: EgressRefusal): void {
  if (!socket.writable) return void socket.destroy();
  const body = refusalBody(fault);
  const head = `HTTP/1.1 ${ERRORS[fault.code].httpStatus} ${fault.code}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nantiphon-code: ${fault.code}\r\nconnection: close\r\n\r\n`;
  socket.end(head + body, () => socket.destroy());
}

function tunnelEntry(
  to: Authority,
  startedAt: number,
  now: number,
  fault: EgressRefusal | null,
  bytes: { readonly up: number; readonly down: number } | null,
): LogEntry {
  return {
    at: new Date(startedAt).toISOString(),
    method: "CONNECT",
    host: to.host,
    port: to.port,
    path: null,
    decision: fault === null ? "allow" : "refuse",
    rule: fault?.rule ?? "tunnel",
    code: fault?.code ?? null,
    why: fault?.message.slice(0, 300) ?? null,
    status: fault === null ? 200 : ERRORS[fault.code].httpStatus,
    bytes_up: bytes?.up ?? 0,
    bytes_down: bytes?.down ?? 0,
    ms: Math.round(now - startedAt),
  };
}

function malformed(rule: string, why: string): EgressRefusal {
  return new EgressRefusal("ANT_EGRESS_MALFORMED", rule, why);
}
