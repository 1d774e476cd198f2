/**
 * Stalled connections on either side of an egress gateway: the deadline that ends each, its log line, and that no other
 * connection is affected. Over loopback, with short deadlines; the path of a request selects how the upstream behaves.
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
import { createLogger, silentMeter } from "@antiphon/runtime";
import { MemoryKv } from "@antiphon/runtime/testing/memory-kv";
import { SandboxAuthority } from "../../../services/egress-gateway/src/tls/authority.ts";
import { BudgetStore } from "../../../services/egress-gateway/src/models/budget-store.ts";
import type { Deadlines } from "../../../services/egress-gateway/src/proxy/deadlines.ts";
import { NEW_ACCOUNT, type Account } from "../../../services/egress-gateway/src/models/ledger.ts";
import type { LogEntry } from "../../../services/egress-gateway/src/policy/log-entry.ts";
import { Leases } from "../../../services/egress-gateway/src/leases/leases.ts";
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
/** Paths of the requests that the upstream is working on. */
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
    settings: () => settingsFor(upstreams),
    budgets: new BudgetStore(accounts),
    read: () => Promise.reject(new Error("nothing is replayed")),
    store: (bytes) => {
      stored.push(bytes);
      return Promise.resolve({ bucket: "b", name: "log", digest: digestOf(bytes), bytes: bytes.length });
    },
    node: "eg_test",
    meter: silentMeter,
    log: createLogger("test", { level: "silent" }),
    now: Date.now,
    deadlines,
  });
}

/** The upstream. `/ticking` sends bytes all the time, and ends when the test releases it. */
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

/** Opens a lease and its control connection. */
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

/** The ClientHello of a TLS client for `host`. */
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
 * Lets one connection of `mine` stall until its deadline, and checks that another connection of the same sandbox and one
 * of another sandbox go on. Returns the log lines of the stalled connection.
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

describe("a sandbox that stalls", () => {
  it("in its token is closed without an answer, whether it is silent or sends byte by byte", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      const silent = connect(mine.port, mine.host).on("error", () => undefined);
      const slow = connect(mine.port, mine.host).on("error", () => undefined);
      const drip = setInterval(() => slow.write("a"), TICK_MS);
      slow.once("close", () => clearInterval(drip));
      expect(await Promise.all([heard(silent), heard(slow)])).toEqual(["", ""]);
    });
    expect(lines).toEqual([]); // without a token, a connection belongs to no lease
  });

  it("egress-gateway/E7: in its header gets a 504 at the header's deadline, although bytes keep coming", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      const slow = dial(mine, `GET http://${NAMES.other}/ HTTP/1.1\r\nX-Slow: `);
      const drip = setInterval(() => slow.write("a"), TICK_MS);
      slow.once("close", () => clearInterval(drip));
      expect(await heard(slow)).toMatch(/^HTTP\/1\.1 504 ANT_EGRESS_TIMEOUT\r\n[^]*"header:slow"/);
      await closed(slow);
    });
    expect(lines).toEqual([expect.objectContaining(late("header:slow", { status: 504 }))]);
  });

  it("in the middle of its header gets a 504, in the clear and inside TLS", async () => {
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

  it("before or in its TLS handshake is closed at the handshake's deadline", async () => {
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

  it("in the middle of a request's body gets a 504 that says so, also on a connection that served a request before", async () => {
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
    await eventually("the upstream's connection is closed", () => !open.has("/post"));
  });

  it("in the middle of a model call's body gets a 504 that says so, and nothing leaves", async () => {
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
    "while reading its answer is cut off, and the upstream's connection is closed: %s",
    async (way) => {
      const lines = await whileOthersGoOn(async (mine) => {
        const isPlain = way === "in the clear";
        const socket = isPlain ? dial(mine) : await tunnel(mine, NAMES.other);
        const get = `GET /endless HTTP/1.1\r\nHost: ${NAMES.other}\r\n\r\n`;
        socket.pause().write(isPlain ? ask("/endless") : get);
        await eventually("the request has arrived", () => open.has("/endless"));
        await eventually("the upstream's connection is closed", () => !open.has("/endless"));
        expect(await heard(socket)).toMatch(/^HTTP\/1\.1 200 /);
        await closed(socket);
      });
      expect(lines).toEqual([
        expect.objectContaining(late("client:idle", { path: "/endless", status: 200 })),
      ]);
      expect(lines[0]?.bytes_down).toBeGreaterThan(0);
    },
  );

  it("between two requests has its connection closed", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      expect(await heard(dial(mine, ask("/fine", "")))).toContain("fine");
      const tls = await tunnel(mine, NAMES.other);
      tls.write(`GET /fine HTTP/1.1\r\nHost: ${NAMES.other}\r\n\r\n`);
      expect(await heard(tls)).toContain("fine");
    });
    expect(lines.map(({ decision }) => decision)).toEqual(["allow", "allow"]);
  });

  it("in a tunnel is closed, and so is the upstream's connection", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      const socket = dial(mine, connectTo(NAMES.pinned)).resume();
      socket.write(await hello(NAMES.pinned));
      await eventually("the tunnel is open", () => mute.size === 1);
      await closed(socket);
      await eventually("the upstream's connection is closed", () => mute.size === 0);
    });
    expect(lines).toEqual([expect.objectContaining(late("tunnel:idle", { host: NAMES.pinned }))]);
    expect(lines[0]?.bytes_up).toBeGreaterThan(100);
  });
});

describe("an upstream that stalls", () => {
  it("after accepting a request makes the gateway answer 504", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      expect(await heard(dial(mine, ask("/silent")))).toMatch(
        /^HTTP\/1\.1 504 ANT_EGRESS_TIMEOUT\r\n[^]*"upstream:idle"/,
      );
    });
    expect(lines).toEqual([expect.objectContaining(late("upstream:idle", { path: "/silent", status: 504 }))]);
    await eventually("the upstream's connection is closed", () => !open.has("/silent"));
  });

  it("in the middle of a body ends as a truncated body, not as a whole one", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      const answer = await heard(dial(mine, ask("/half")));
      expect(answer).toMatch(/content-length: 100\r\n[^]*\r\n\r\nhalf$/);
    });
    expect(lines).toEqual([expect.objectContaining(late("upstream:idle", { path: "/half", bytes_down: 4 }))]);
    await eventually("the upstream's connection is closed", () => !open.has("/half"));
  });

  it("egress-gateway/E7: in a model call makes the gateway answer 504, and the call is charged in full", async () => {
    const lines = await whileOthersGoOn(async (mine) => {
      const tls = await tunnel(mine, NAMES.openai);
      const body = JSON.stringify({ model: "m-1", messages: [{ role: "user", content: "hi" }] });
      const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${NAMES.openai}\r\nContent-Type: application/json\r\n`;
      tls.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
      expect(await heard(tls)).toMatch(/^HTTP\/1\.1 504 ANT_EGRESS_TIMEOUT\r\n[^]*"upstream:idle"/);
    });
    expect(lines).toEqual([expect.objectContaining(late("upstream:idle", { host: NAMES.openai }))]);
    const { used, reserved } = (await accounts.get<Account>("run_a"))?.value ?? NEW_ACCOUNT;
    expect([used.tokens > 100, reserved.tokens]).toEqual([true, 0]); // PRICE bounds an answer by 100 tokens
  });

  it("by never ending its answer is cut off at the deadline of the whole request, although bytes keep coming", async () => {
    leases = leasesWith({ ...SHORT, requestMs: 1_500 });
    const mine = await lease();
    // A byte that could begin a credential waits for the next chunk, so where the chunks break is not told.
    const drops = (await heard(dial(mine, ask("/drip")))).replace(/\r\n[0-9a-f]+\r\n/g, "");
    expect(drops).toMatch(/(tick ){5}/);
    expect(await heard(dial(mine, ask("/fine")))).toMatch(/^HTTP\/1\.1 200 /);
    expect(await account(mine)).toEqual([
      expect.objectContaining(late("request:long", { path: "/drip" })),
      expect.objectContaining({ decision: "allow", path: "/fine" }),
    ]);
    await eventually("the upstream's connection is closed", () => !open.has("/drip"));
  });
});

it("egress-gateway/E6: a request cut off by the end of its lease has a log line, which names the sandbox's side", async () => {
  const mine = await lease();
  const cut = [heard(dial(mine, ask("/silent"))), heard(dial(mine, ask("/endless")))];
  await eventually("both requests have arrived", () => open.has("/silent") && open.has("/endless"));
  const lines = await account(mine);
  expect(lines.map(({ path, rule }) => `${path} ${rule}`).sort()).toEqual([
    "/endless client:gone",
    "/silent client:gone",
  ]);
  await Promise.all(cut);
});
