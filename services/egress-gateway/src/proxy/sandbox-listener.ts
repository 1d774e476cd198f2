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
 *   L6  A connection that dawdles (token, header, handshake, silence) is closed by a deadline. Once there is a request,
 *       its line in the log says which, and whose silence it was: `header:slow`, `client:idle`, `upstream:idle`,
 *       `request:long`, `tunnel:silent`, `tunnel:idle`.
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
import { exchange, refusalBody, type ExchangePorts } from "./exchange.ts";
import type { SandboxAuthority } from "../tls/authority.ts";
import { firstLine, firstBytes } from "./first-bytes.ts";
import { passThrough, type Passed } from "./tunnel.ts";
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

/** Where a CONNECT that is looked into went, and the connection it came on. */
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
  /** Requests under way on a connection. */
  readonly #busy = new WeakMap<Socket, number>();
  /** What will have its line in the log. */
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
        headersTimeout: deadlines.handshakeMs, // L6
        requestTimeout: 0, // the exchange's own (watch.ts): this one would not count the answer
        keepAliveTimeout: deadlines.idleMs,
        connectionsCheckingInterval: deadlines.checkMs,
        insecureHTTPParser: false,
        requireHostHeader: false, // a missing one is refused with its rule, and logged
      },
      (request, response) => this.#worked(this.#serve(request, response)),
    );
    // Each request under way listens for the end of its connection (exchange.ts, E4), and a client may send many at once.
    this.#http.on("connection", (socket) => socket.setMaxListeners(0));
    this.#http.on("connect", (request, socket, head) =>
      this.#worked(this.#connect(request, socket as Socket, head)),
    );
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
      }, this.#deadlines.handshakeMs).unref();
      return bound;
    }
    throw new EgressRefusal("ANT_EGRESS_BUSY", "listener:ports", "every port of the range is taken");
  }

  /** Nothing passes from here on; resolves when what was under way has its line in the log (exchange.ts, E1). */
  async close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      this.#server.close();
      this.#http.close();
      for (const socket of this.#sockets) socket.destroy(); // L4
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

  /** While a request is under way, its silence is the exchange's to judge. */
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
      if (busy(-1) === 0) socket.setTimeout(this.#deadlines.idleMs); // L6
    }
  }

  #abandon(): void {
    if (!this.#closed) this.#options.onAbandoned();
  }

  async #greet(socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.on("error", () => undefined); // its end is told by close
    socket.setTimeout(this.#deadlines.idleMs).on("timeout", () => socket.destroy()); // L6
    const line = await firstLine(socket, 128, this.#deadlines.handshakeMs);
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
          `CONNECT ${to.host}, and TLS for ${name}`,
        ); // L5
      if (rule.terminate) return this.#terminate(socket, to, authority);
      if (hello.hidesName)
        throw new EgressRefusal("ANT_EGRESS_MISMATCH", "tunnel:hidden", "the name is encrypted"); // L5
      ports.quota.request();
      tunneled = { up: 0, down: 0 };
      await passThrough(
        socket,
        await resolve(to.host, to.port),
        tunneled,
        ports.quota,
        this.#deadlines.idleMs,
      );
      ports.log(tunnelEntry(to, startedAt, ports.now(), null, tunneled));
    } catch (error) {
      const fault = error instanceof EgressRefusal ? error : malformed("tunnel:broken", String(error));
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

  /** What the parser cannot read in one way is answered and closed. */
  #unreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
    const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
    // What is not the parser's is a connection that broke, or that an exchange has ended, with a line of its own (E1).
    if (!isLate && error.code?.startsWith("HPE_") !== true) return void socket.destroy();
    const fault = isLate
      ? new EgressRefusal("ANT_EGRESS_TIMEOUT", "header:slow", "the request did not come in time")
      : malformed("header:syntax", error.code ?? error.message);
    const { ports } = this.#options;
    const to = this.#tunnels.get(socket)?.to ?? { host: "", port: 0 };
    ports.log({ ...tunnelEntry(to, ports.now(), ports.now(), fault, null), method: "" });
    this.#refuse(socket, fault);
  }

  #refuse(socket: Duplex, fault: EgressRefusal): void {
    if (!socket.writable) return void socket.destroy();
    const body = refusalBody(fault);
    const head = `HTTP/1.1 ${ERRORS[fault.code].httpStatus} ${fault.code}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nantiphon-code: ${fault.code}\r\nconnection: close\r\n\r\n`;
    socket.end(head + body, () => socket.destroy());
    const late = setTimeout(() => socket.destroy(), this.#deadlines.handshakeMs); // L6: who does not take it, either
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
