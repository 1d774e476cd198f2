/**
 * The listener of one sandbox: a TCP port that reads a token from the first line of each connection, then an HTTP proxy.
 * A connection without the token is closed without an answer.
 *
 * Lifecycle: listening -> held (the control connection is up) -> closed. It closes on request, when the control connection
 * ends, or when none comes within the handshake's deadline. All connections end with it.
 *
 * Promises:
 *   egress-gateway/E5 Because a request is refused unless CONNECT, SNI and Host name one host, and unless its path and
 *     framing have a single reading, the policy judges the same request that the upstream receives.
 */
import { timingSafeEqual } from "node:crypto";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { ERRORS, limits } from "@antiphon/contracts";
import { readClientHello, type ClientHello } from "../tls/client-hello.ts";
import { parseAuthority, type Authority } from "../policy/host-name.ts";
import type { Deadlines } from "./deadlines.ts";
import type { LogEntry } from "../policy/log-entry.ts";
import { ruleFor } from "../policy/policy.ts";
import { decisionOf, EgressRefusal } from "../policy/refusal.ts";
import { exchange, type ExchangePorts } from "./exchange.ts";
import { refusalBody } from "./refusal-answer.ts";
import type { SandboxAuthority } from "../tls/authority.ts";
import { firstLine, firstBytes } from "./first-bytes.ts";
import { passThrough, type Dial, type Passed } from "./tunnel.ts";
import type { Resolve } from "./resolver.ts";

export interface ListenerOptions {
  /** 64 hexadecimal digits. */
  readonly token: string;
  readonly ports: ExchangePorts;
  readonly authority: SandboxAuthority;
  readonly resolve: Resolve;
  /** The way through the upstream proxy. Default: there is none. */
  readonly dial?: Dial | null;
  /** Called when the control connection ended or never came. */
  readonly onAbandoned: () => void;
}

/** A CONNECT whose TLS is terminated here: its target, and the connection it came on. */
interface Tunnel {
  readonly to: Authority;
  readonly socket: Socket;
}

export class SandboxListener {
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #http: HttpServer;
  readonly #sockets = new Set<Socket>();
  readonly #tunnels = new WeakMap<Duplex, Tunnel>();
  /** Number of requests under way on a connection. */
  readonly #busy = new WeakMap<Socket, number>();
  /** Work that still has to write its log line. */
  readonly #work = new Set<Promise<void>>();
  #held = false;
  #closed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { deadlines } = options.ports;
    this.#server = createServer({ noDelay: true }, (socket) => void this.#greet(socket));
    this.#http = createHttpServer(
      {
        maxHeaderSize: limits.egressHeaderBytes,
        headersTimeout: deadlines.handshakeMs, // egress-gateway/E7
        requestTimeout: 0, // watch.ts has a deadline that includes the answer
        keepAliveTimeout: deadlines.idleMs,
        connectionsCheckingInterval: deadlines.checkMs,
        insecureHTTPParser: false,
        requireHostHeader: false, // the exchange refuses a missing one, and logs it
      },
      (request, response) => this.#worked(this.#serve(request, response)),
    );
    // Each request under way adds a listener to its connection (exchange.ts), and a client may send many at once.
    this.#http.on("connection", (socket) => socket.setMaxListeners(0));
    this.#http.on("connect", (request, socket, head) =>
      this.#worked(this.#connect(request, socket as Socket, head)),
    );
    this.#http.on("clientError", (error: NodeJS.ErrnoException, socket) => this.#unreadable(error, socket));
  }

  /** Tries `ports` in order; 0 means any free port. */
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
      // Connections are handed to the HTTP server by hand; this event starts its checks for late headers.
      this.#http.emit("listening");
      setTimeout(() => {
        if (!this.#held) this.#abandon();
      }, this.#deadlines.handshakeMs).unref();
      return bound;
    }
    throw new EgressRefusal("ANT_EGRESS_BUSY", "listener:ports", "every port of the range is taken");
  }

  /** Cuts all connections; resolves when the requests under way have written their log lines. */
  async close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#server.close();
      this.#http.close();
      for (const socket of this.#sockets) socket.destroy();
    }
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }

  get #deadlines(): Deadlines {
    return this.#options.ports.deadlines;
  }

  #worked(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  /** While a request is under way, its exchange has the idle deadline, so the socket's own is off. */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const tunnel = this.#tunnels.get(request.socket);
    const socket = tunnel?.socket ?? request.socket;
    const busy = (by: number): number => {
      const now = (this.#busy.get(socket) ?? 0) + by;
      this.#busy.set(socket, now);
      return now;
    };
    busy(1);
    socket.setTimeout(0);
    try {
      await exchange(request, response, tunnel?.to ?? null, this.#options.ports);
    } finally {
      if (busy(-1) === 0) socket.setTimeout(this.#deadlines.idleMs); // egress-gateway/E7
    }
  }

  #abandon(): void {
    if (!this.#closed) this.#options.onAbandoned();
  }

  async #greet(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.on("error", () => undefined); // `close` follows
    socket.setTimeout(this.#deadlines.idleMs).on("timeout", () => socket.destroy()); // egress-gateway/E7
    const line = await firstLine(socket, 128, this.#deadlines.handshakeMs);
    const [token = "", kind = ""] = (line ?? "").split(" ");
    if (this.#closed || !sameToken(token, this.#options.token)) return void socket.destroy();
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
    let tunneled: Passed | null = null;
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
          `CONNECT names ${to.host}, TLS names ${name}`,
        ); // egress-gateway/E5
      if (rule.terminate) return this.#terminate(socket, to, authority);
      if (hello.hidesName)
        throw new EgressRefusal("ANT_EGRESS_MISMATCH", "tunnel:hidden", "the name is encrypted"); // egress-gateway/E5
      ports.quota.request();
      tunneled = { up: 0, down: 0 };
      await passThrough(socket, await resolve(to.host, to.port), tunneled, ports.quota, {
        idleMs: this.#deadlines.idleMs,
        dial: this.#options.dial ?? null,
      });
      ports.log(tunnelEntry(to, startedAt, ports.now(), null, tunneled));
    } catch (error) {
      const fault = error instanceof EgressRefusal ? error : malformed("tunnel:broken", String(error));
      if (tunneled === null) ports.quota.refused(); // egress-gateway/E6: else it could fill the log first
      ports.log(tunnelEntry(to, startedAt, ports.now(), fault, tunneled));
      this.#refuse(socket, fault);
    }
  }

  async #hello(socket: Socket): Promise<ClientHello> {
    const hello = await firstBytes(socket, readClientHello, this.#deadlines.handshakeMs);
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
    this.#tunnels.set(tls, { to, socket });
    this.#http.emit("connection", tls);
  }

  /** Answers and closes a connection whose bytes the HTTP parser refused, or whose header is late. */
  #unreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
    const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    // Other errors come from a connection that broke or that its exchange has ended; the exchange writes the log line.
    if (!isLate && error.code?.startsWith("HPE_") !== true) return void socket.destroy();
    const fault = isLate
      ? new EgressRefusal("ANT_EGRESS_TIMEOUT", "header:slow", "the request did not come in time")
      : malformed("header:syntax", error.code ?? error.message);
    const { ports } = this.#options;
    ports.quota.refused(); // egress-gateway/E6
    const to = this.#tunnels.get(socket)?.to ?? { host: "", port: 0 };
    ports.log({ ...tunnelEntry(to, ports.now(), ports.now(), fault, null), method: "" });
    this.#refuse(socket, fault);
  }

  #refuse(socket: Duplex, fault: EgressRefusal): void {
    if (!socket.writable) return void socket.destroy();
    const body = refusalBody(fault);
    const head = `HTTP/1.1 ${ERRORS[fault.code].httpStatus} ${fault.code}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nantiphon-code: ${fault.code}\r\nconnection: close\r\n\r\n`;
    socket.end(head + body, () => socket.destroy());
    const late = setTimeout(() => socket.destroy(), this.#deadlines.handshakeMs); // egress-gateway/E7
    socket.once("close", () => clearTimeout(late));
  }
}

function sameToken(given: string, token: string): boolean {
  return (
    given.length === token.length &&
    timingSafeEqual(Buffer.from(given, "latin1"), Buffer.from(token, "latin1"))
  );
}

function tunnelEntry(
  to: Authority,
  startedAt: number,
  now: number,
  fault: EgressRefusal | null,
  bytes: Passed | null,
): LogEntry {
  return {
    at: new Date(startedAt).toISOString(),
    method: "CONNECT",
    host: to.host,
    port: to.port,
    path: null,
    decision: decisionOf(fault),
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
