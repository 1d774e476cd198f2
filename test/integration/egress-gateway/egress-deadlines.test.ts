/**
 * What dawdles, on either side of an egress gateway: by which deadline it ends, what its line in the log says, and that
 * nobody else notices. Over loopback, with short deadlines; the other side is a server that does as its path says.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import {
  connect,
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from "node:net";
import { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { digestOf, type EgressOpened } from "@antiphon/contracts";
import { createLogger } from "@antiphon/runtime";
import { MemoryKv } from "@antiphon/runtime/testing/memory-kv";
import { SandboxAuthority } from "../../../services/egress-gateway/src/tls/authority.ts";
import { BudgetStore } from "../../../services/egress-gateway/src/models/budget-store.ts";
import type { Deadlines } from "../../../services/egress-gateway/src/proxy/deadlines.ts";
import { NEW_ACCOUNT, type Account } from "../../../services/egress-gateway/src/models/ledger.ts";
import type { LogEntry } from "../../../services/egress-gateway/src/policy/log-entry.ts";
import { Leases } from "../../../services/egress-gateway/src/leases.ts";
import { grantOf, settingsFor } from "../../support/egress-world.ts";
import { NAMES } from "../../support/egress-upstreams.ts";
import { eventually } from "../../support/nats.ts";

const SHORT: Deadlines = { handshakeMs: 500, idleMs: 900, requestMs: 60_000, checkMs: 20 };
const TICK_MS = 50;

const authority = new SandboxAuthority("test upstreams", Date.now());
const outside = { plain: 0, tls: 0, mute: 0 };
const servers: { close(): void; closeAllConnections?: () => void }[] = [];
const mute = new Set<Socket>();
let leases: Leases;
let accounts = new MemoryKv();
let stored: Buffer[] = [];
/** Requests the other side is busy with, by path. */
const open = new Set<string>();
let release = (): void => undefined;

beforeAll(async () => {
  const plain = createServer(serve);
  const tls = createTlsServer({ SNICallback: (name, done) => done(null, authority.contextFor(name)) }, serve);
  const silent = createTcpServer((socket) => {
    mute.add(socket.on("error", () => undefined).resume());
    socket.once("close", () => mute.delete(socket));
  });
  servers.push(plain, tls, silent);
  const port = async (server: TcpServer): Promise<number> => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  };
  Object.assign(outside, { plain: await port(plain), tls: await port(tls), mute: await port(silent) });
});
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections?.();
    server.close();
  }
});
beforeEach(() => {
  stored = [];
  accounts = new MemoryKv();
  leases = leasesWith(SHORT);
});
afterEach(() => {
  release();
  release = () => undefined;
  leases.closeAll();
});

function leasesWith(deadlines: Deadlines): Leases {
  const at = (port: number) => ({ address: "127.0.0.1", port });
  const upstreams = {
    authority: authority.certificate,
    overrides: new Map([
      [`${NAMES.other}:80`, at(outside.plain)],
      [`${NAMES.other}:443`, at(outside.tls)],
      [`${NAMES.openai}:443`, at(outside.tls)],
      [`${NAMES.pinned}:443`, at(outside.mute)],
    ]),
  };
  return new Leases({
    settings: settingsFor(upstreams),
    budgets: new BudgetStore(accounts),
    store: (bytes) => {
      stored.push(bytes);
      return Promise.resolve({ bucket: "b", name: "log", digest: digestOf(bytes), bytes: bytes.length });
    },
    node: "eg_test",
    log: createLogger("test", { level: "silent" }),
    now: Date.now,
    deadlines,
  });
}

/** The other side. `/ticking` moves all the time, and ends when it is let go. */
function serve(request: IncomingMessage, response: ServerResponse): void {
  const url = request.url ?? "";
  open.add(url);
  response.once("close", () => open.delete(url));
  response.on("error", () => undefined);
  if (url.startsWith("/silent") || url.startsWith("/v1/")) return;
  if (url.startsWith("/half")) return void response.writeHead(200, { "content-length": "100" }).write("half");
  if (url.startsWith("/endless")) return void endless(response);
  if (url.startsWith("/ticking") || url.startsWith("/drip")) {
    response.write("tick ");
    const timer = setInterval(() => response.write("tick "), TICK_MS);
    response.once("close", () => clearInterval(timer));
    const before = release;
    if (url.startsWith("/ticking"))
      release = () => {
        before();
        clearInterval(timer);
        response.end("done");
      };
    return;
  }
  request.resume().on("end", () => response.end("fine"));
}

function endless(response: ServerResponse): void {
  const piece = Buffer.alloc(1 << 16, "x");
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on("drain", more);
  more();
}

/** A listener that its runner holds on to. */
async function lease(): Promise<EgressOpened> {
  const grant = grantOf([NAMES.other, NAMES.pinned], { tokens: 1_000_000 });
  const opened = await leases.opened({ run: "run_a", task: "T-001", epoch: 1, jobId: "j", grant });
  const control = connect(opened.port, opened.host).on("error", () => undefined);
  control.write(`${opened.token} control\n`);
  await new Promise((resolve) => control.once("data", resolve));
  return opened;
}

function dial({ host, port, token }: EgressOpened, first = ""): Socket {
  const socket = connect(port, host).on("error", () => undefined);
  socket.write(`${token} data\n${first}`);
  return socket;
}
const ask = (path: string, more = "Connection: close\r\n"): string =>
  `GET http://${NAMES.other}${path} HTTP/1.1\r\nHost: ${NAMES.other}\r\n${more}\r\n`;
const connectTo = (host: string): string => `CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`;
const closed = (socket: Duplex): Promise<void> =>
  new Promise((resolve) => (socket.destroyed ? resolve() : socket.once("close", () => resolve())));
const heard = (socket: Duplex): Promise<string> => text(socket).catch(() => "");

/** TLS inside a tunnel to `host`. */
async function tunnel(to: EgressOpened, host: string): Promise<TLSSocket> {
  const socket = dial(to, connectTo(host));
  await new Promise((resolve) => socket.once("data", resolve));
  const tls = connectTls({ socket, servername: host, ca: to.ca }).on("error", () => undefined);
  await new Promise((resolve, reject) => tls.once("secureConnect", resolve).once("close", reject));
  return tls;
}

/** What a client says first for TLS to `host`, and nothing after it. */
function hello(host: string): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer) => {
        resolve(chunk);
        socket.destroy();
      },
    });
    connectTls({ socket, servername: host }).on("error", () => undefined);
  });
}

const account = async (of: EgressOpened): Promise<LogEntry[]> => {
  await leases.closed(of.lease);
  return (stored.at(-1)?.toString("utf8") ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as LogEntry);
};

/**
 * Something stands still in one connection of `mine` until its deadline, while another connection of the same sandbox
 * and one of another sandbox go on. Gives what the log of `mine` says of what stood still.
 */
async function whileOthersGoOn(still: (mine: EgressOpened) => Promise<void>): Promise<LogEntry[]> {
  const [mine, other] = [await lease(), await lease()];
  const going = [heard(dial(mine, ask("/ticking/mine"))), heard(dial(other, ask("/ticking/other")))];
  await eventually("both go on", () => open.has("/ticking/mine") && open.has("/ticking/other"));
  await still(mine);
  expect([open.has("/ticking/mine"), open.has("/ticking/other")]).toEqual([true, true]);
  release();
  for (const answer of await Promise.all(going)) {
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain("done");
  }
  const isGoing = ({ path }: LogEntry): boolean => path?.startsWith("/ticking") === true;
  const lines = await account(mine);
  expect(lines.filter(isGoing).map(({ decision, status }) => [decision, status])).toEqual([["allow", 200]]);
  expect((await account(other)).map(({ decision }) => decision)).toEqual(["allow"]);
  return lines.filter((line) => !isGoing(line));
}

const late = (rule: string, more: Partial<LogEntry> = {}): object => ({
  decision: "fault",
  code: "ANT_EGRESS_TIMEOUT",
  rule,
  ...more,
});

describe("L6: a sandbox that dawdles", () => {
  it("L6: with its token gets nothing and is closed, whether it says nothing or goes byte by byte", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      const silent = connect(mine.port, mine.host).on("error", () => undefined);
      const slow = connect(mine.port, mine.host).on("error", () => undefined);
      const drip = setInterval(() => slow.write("a"), TICK_MS);
      slow.once("close", () => clearInterval(drip));
      expect(await Promise.all([heard(silent), heard(slow)])).toEqual(["", ""]);
    });
    expect(lines).toEqual([]); // whoever has no token is nobody's
  });

  it("L6: with its header, byte by byte, is answered 504 at the header's deadline, however long it could go on", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      const slow = dial(mine, `GET http://${NAMES.other}/ HTTP/1.1\r\nX-Slow: `);
      const drip = setInterval(() => slow.write("a"), TICK_MS);
      slow.once("close", () => clearInterval(drip));
      expect(await heard(slow)).toMatch(/^HTTP\/1\.1 504 ANT_EGRESS_TIMEOUT\r\n[^]*"header:slow"/);
      await closed(slow);
    });
    expect(lines).toEqual([expect.objectContaining(late("header:slow", { status: 504 }))]);
  });

  it("L6: that stops in the middle of its header ends the same way, in the clear and inside TLS", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      const tls = await tunnel(mine, NAMES.other);
      tls.write(`GET / HTTP/1.1\r\nHost: ${NAMES.other}\r\nX-Half`);
      const plain = dial(mine, `GET http://${NAMES.other}/ HTTP/1.1\r\nHost: ${NAMES.other}\r\nX-Half`);
      for (const answer of await Promise.all([heard(tls), heard(plain)]))
        expect(answer).toMatch(/^HTTP\/1\.1 504 ANT_EGRESS_TIMEOUT\r\n/);
    });
    expect(lines.map(({ rule }) => rule)).toEqual(["header:slow", "header:slow"]);
    expect(lines.map(({ host }) => host).sort()).toEqual(["", NAMES.other]);
  });

  it("L6: that stops before or in its TLS handshake is closed at the handshake's deadline", async () => {
    const first = await hello(NAMES.other);
    const lines = await whileOthersGoOn(async (mine) => {
      const [before, half, within] = [1, 2, 3].map(() => dial(mine, connectTo(NAMES.other)).resume());
      half?.write(first.subarray(0, 40));
      within?.write(first);
      await Promise.all([before, half, within].map((socket) => closed(socket as Socket)));
    });
    expect(lines.map(({ rule }) => rule).sort()).toEqual(["header:slow", "tunnel:silent", "tunnel:silent"]);
    expect(lines.map(({ host }) => host)).toEqual([NAMES.other, NAMES.other, NAMES.other]);
  });

  it("L6: that stops in the middle of a request's body is told so, also on a connection that served it before", async () => {
    const post = `POST http://${NAMES.other}/post HTTP/1.1\r\nHost: ${NAMES.other}\r\nContent-Length: 10\r\n\r\nhalf`;
    const lines = await whileOthersGoOn(async (mine) => {
      const socket = dial(mine, ask("/fine", ""));
      await new Promise((resolve) => socket.once("data", resolve));
      socket.write(post);
      expect(await heard(socket)).toMatch(/HTTP\/1\.1 504 ANT_EGRESS_TIMEOUT\r\n[^]*"client:idle"/);
    });
    expect(lines).toEqual([
      expect.objectContaining({ decision: "allow", path: "/fine" }),
      expect.objectContaining(late("client:idle", { path: "/post", bytes_up: 4 })),
    ]);
    await eventually("the other side is let go", () => !open.has("/post"));
  });

  it("L6: that stops in the middle of a model call's body is told so, and nothing leaves", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      const tls = await tunnel(mine, NAMES.openai);
      const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${NAMES.openai}\r\nContent-Type: application/json\r\n`;
      tls.write(`${head}Content-Length: 100\r\n\r\n{"model"`);
      expect(await heard(tls)).toMatch(/^HTTP\/1\.1 504 ANT_EGRESS_TIMEOUT\r\n[^]*"client:idle"/);
      expect(open.has("/v1/chat/completions")).toBe(false);
    });
    expect(lines).toEqual([expect.objectContaining(late("client:idle", { bytes_up: 8 }))]);
  });

  it.each(["in the clear", "inside TLS"])(
    "L6: that stops reading its answer is cut off, and the other side let go: %s",
    async (way) => {
      const lines = await whileOthersGoOn(async (mine) => {
        const isPlain = way === "in the clear";
        const socket = isPlain ? dial(mine) : await tunnel(mine, NAMES.other);
        const get = `GET /endless HTTP/1.1\r\nHost: ${NAMES.other}\r\n\r\n`;
        socket.pause().write(isPlain ? ask("/endless") : get);
        await eventually("it is asked for", () => open.has("/endless"));
        await eventually("the other side is let go", () => !open.has("/endless"));
        expect(await heard(socket)).toMatch(/^HTTP\/1\.1 200 /);
        await closed(socket);
      });
      expect(lines).toEqual([
        expect.objectContaining(late("client:idle", { path: "/endless", status: 200 })),
      ]);
      expect(lines[0]?.bytes_down).toBeGreaterThan(0);
    },
  );

  it("L6: that asks for nothing more on an open connection is closed", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      expect(await heard(dial(mine, ask("/fine", "")))).toContain("fine");
      const tls = await tunnel(mine, NAMES.other);
      tls.write(`GET /fine HTTP/1.1\r\nHost: ${NAMES.other}\r\n\r\n`);
      expect(await heard(tls)).toContain("fine");
    });
    expect(lines.map(({ decision }) => decision)).toEqual(["allow", "allow"]);
  });

  it("L6: that leaves a tunnel in silence is closed, and so is the other side", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      const socket = dial(mine, connectTo(NAMES.pinned)).resume();
      socket.write(await hello(NAMES.pinned));
      await eventually("the tunnel is there", () => mute.size === 1);
      await closed(socket);
      await eventually("the other side is let go", () => mute.size === 0);
    });
    expect(lines).toEqual([expect.objectContaining(late("tunnel:idle", { host: NAMES.pinned }))]);
    expect(lines[0]?.bytes_up).toBeGreaterThan(100);
  });
});

describe("L6: another side that dawdles", () => {
  it("L6: that accepts and says nothing is answered for with 504", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      expect(await heard(dial(mine, ask("/silent")))).toMatch(
        /^HTTP\/1\.1 504 ANT_EGRESS_TIMEOUT\r\n[^]*"upstream:idle"/,
      );
    });
    expect(lines).toEqual([expect.objectContaining(late("upstream:idle", { path: "/silent", status: 504 }))]);
    await eventually("it is let go", () => !open.has("/silent"));
  });

  it("L6: that stops in the middle of a body ends as a body that is cut off, not as a whole one", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      const answer = await heard(dial(mine, ask("/half")));
      expect(answer).toMatch(/content-length: 100\r\n[^]*\r\n\r\nhalf$/);
    });
    expect(lines).toEqual([expect.objectContaining(late("upstream:idle", { path: "/half", bytes_down: 4 }))]);
    await eventually("it is let go", () => !open.has("/half"));
  });

  it("L6, B2: that says nothing to a model call is answered for with 504, and the call is charged in full", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      const tls = await tunnel(mine, NAMES.openai);
      const body = JSON.stringify({ model: "m-1", messages: [{ role: "user", content: "hi" }] });
      const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${NAMES.openai}\r\nContent-Type: application/json\r\n`;
      tls.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
      expect(await heard(tls)).toMatch(/^HTTP\/1\.1 504 ANT_EGRESS_TIMEOUT\r\n[^]*"upstream:idle"/);
    });
    expect(lines).toEqual([expect.objectContaining(late("upstream:idle", { host: NAMES.openai }))]);
    const { used, reserved } = (await accounts.get<Account>("run_a"))?.value ?? NEW_ACCOUNT;
    expect([used.tokens > 100, reserved.tokens]).toEqual([true, 0]); // an answer is bounded by 100 (PRICE)
  });

  it("L6: that never ends, though it moves, is cut off at the whole request's deadline", async () => {
    leases = leasesWith({ ...SHORT, requestMs: 1_500 });
    const mine = await lease();
    expect(await heard(dial(mine, ask("/drip")))).toMatch(/(tick \s+5\s+){5}/);
    expect(await heard(dial(mine, ask("/fine")))).toMatch(/^HTTP\/1\.1 200 /);
    expect(await account(mine)).toEqual([
      expect.objectContaining(late("request:long", { path: "/drip" })),
      expect.objectContaining({ decision: "allow", path: "/fine" }),
    ]);
    await eventually("it is let go", () => !open.has("/drip"));
  });
});

it("E1, T3: a request that the end of its lease cuts off has its line, and it is the sandbox's end that it tells", async () => {
  const mine = await lease();
  const cut = [heard(dial(mine, ask("/silent"))), heard(dial(mine, ask("/endless")))];
  await eventually("both are asked for", () => open.has("/silent") && open.has("/endless"));
  const lines = await account(mine);
  expect(lines.map(({ path, rule }) => `${path} ${rule}`).sort()).toEqual([
    "/endless client:gone",
    "/silent client:gone",
  ]);
  await Promise.all(cut);
});
