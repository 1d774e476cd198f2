/**
 * How an exchange of an egress gateway ends when something breaks at a bad moment: a body while the name is still being
 * resolved, a connection while an answer is queued behind another one. Over loopback; the path of a request, or the message
 * of a model call, selects how the upstream behaves, and the test decides when a name is resolved.
 */
import { createServer, type Server, type ServerResponse } from "node:http";
import { connect, type AddressInfo, type Server as TcpServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { digestOf, limits } from "@antiphon/contracts";
import { MemoryKv } from "@antiphon/runtime/testing/memory-kv";
import { SandboxAuthority } from "../../../services/egress-gateway/src/tls/authority.ts";
import { BudgetStore } from "../../../services/egress-gateway/src/models/budget-store.ts";
import type { Endpoint } from "../../../services/egress-gateway/src/proxy/resolver.ts";
import { SandboxListener } from "../../../services/egress-gateway/src/proxy/sandbox-listener.ts";
import { Upstream } from "../../../services/egress-gateway/src/proxy/upstream.ts";
import type { Deadlines } from "../../../services/egress-gateway/src/proxy/deadlines.ts";
import { NEW_ACCOUNT, type Account } from "../../../services/egress-gateway/src/models/ledger.ts";
import type { LogEntry } from "../../../services/egress-gateway/src/policy/log-entry.ts";
import { compilePolicy } from "../../../services/egress-gateway/src/policy/policy.ts";
import { Quota } from "../../../services/egress-gateway/src/policy/quota.ts";
import { EgressRefusal } from "../../../services/egress-gateway/src/policy/refusal.ts";
import type { ModelAsk } from "../../../services/egress-gateway/src/proxy/exchange.ts";
import { modelExchange } from "../../../services/egress-gateway/src/models/model-exchange.ts";
import { settingsFor } from "../../support/egress-world.ts";
import { NAMES } from "../../support/egress-upstreams.ts";
import { eventually } from "../../support/nats.ts";

const DEADLINES: Deadlines = { handshakeMs: 2_000, idleMs: 5_000, requestMs: 60_000, checkMs: 20 };
/** An answer that switches protocols, which no request asks for. */
const SWITCH = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n";
const TOKEN = "a".repeat(64);

let server: Server;
let listener: SandboxListener;
let upstream: Upstream;
let port = 0;
let quota: Quota;
let lines: LogEntry[] = [];
let accounts: MemoryKv;
/** Paths of the requests that the upstream is working on. */
const open = new Set<string>();
/** Number of requests that reached the upstream. */
let calls = 0;
/** The newest model call. */
let asking: ModelAsk | null = null;
/** How names are resolved; set by a test. */
let resolve: (host: string) => Promise<Endpoint>;
/** Errors without a listener: each would have ended the gateway. */
const uncaught: unknown[] = [];
const onUncaught = (error: unknown): void => void uncaught.push(error);
/** Node warns when one object has more than ten listeners, so leaked listeners show up here. */
const warned: Error[] = [];
const onWarning = (warning: Error): void => void warned.push(warning);

const portOf = (of: TcpServer): number => (of.address() as AddressInfo).port;
const there = (): Endpoint => ({ address: "127.0.0.1", port: portOf(server) });

beforeAll(async () => {
  process.on("uncaughtException", onUncaught).on("warning", onWarning);
  server = createServer((request, response) => {
    const url = request.url ?? "";
    open.add(url);
    calls += 1;
    response.once("close", () => open.delete(url));
    response.on("error", () => undefined);
    if (url.startsWith("/silent")) return;
    if (url.startsWith("/half")) {
      response.writeHead(200, { "content-length": "100" });
      return void response.write("half", () => response.destroy());
    }
    if (url.startsWith("/switch")) return void request.socket.write(SWITCH);
    void text(request).then(
      (body) => (url.startsWith("/v1/") ? answered(body, response) : response.end("fine")),
      () => undefined,
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});
afterAll(async () => {
  process.off("uncaughtException", onUncaught).off("warning", onWarning);
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

/** A model's answer of 16 MiB; with `endless` it never ends. */
function answered(body: string, response: ServerResponse): void {
  if (body.includes("switch")) return void response.socket?.write(SWITCH);
  const piece = Buffer.alloc(1 << 16, "x");
  let pieces = body.includes("endless") ? Infinity : (16 << 20) / piece.length;
  const more = (): void => {
    while (!response.destroyed && pieces > 0) {
      pieces -= 1;
      if (!response.write(piece)) return;
    }
    response.end();
  };
  response.on("drain", more);
  more();
}

beforeEach(async () => {
  lines = [];
  quota = new Quota();
  accounts = new MemoryKv();
  resolve = () => Promise.resolve(there());
  await listen(DEADLINES);
});
afterEach(async () => {
  await listener.close();
  upstream.close();
  expect([...uncaught.splice(0), ...warned.splice(0)]).toEqual([]);
});

async function listen(deadlines: Deadlines): Promise<void> {
  const { known } = settingsFor({ authority: "", overrides: new Map() });
  const budget = { tokens: 1_000_000 };
  const asked = (host: string): Promise<Endpoint> => resolve(host);
  upstream = new Upstream(asked, []);
  listener = new SandboxListener({
    token: TOKEN,
    authority: new SandboxAuthority("lease", Date.now()),
    resolve: asked,
    onAbandoned: () => undefined,
    ports: {
      policy: compilePolicy({ mode: "allowlist", allowlist: [NAMES.other] }, budget, known),
      known,
      credentials: [],
      secrets: [],
      upstream,
      quota,
      deadlines,
      log: (entry) => void lines.push(entry),
      model: (ask) => modelCall(ask, budget),
      checkpoint: () => Promise.reject(new Error("no checkpoints here")),
      now: Date.now,
    },
  });
  port = await listener.listen("127.0.0.1", [0]);
}

function modelCall(ask: ModelAsk, budget: { tokens: number }): ReturnType<typeof modelExchange> {
  asking = ask;
  return modelExchange(ask, {
    run: "run_a",
    budget,
    budgets: new BudgetStore(accounts),
    hosts: settingsFor({ authority: "", overrides: new Map() }).models,
    upstream,
    secrets: [],
    mask: (text) => text,
    record: true,
    store: (bytes) =>
      Promise.resolve({ bucket: "b", name: "call", digest: digestOf(bytes), bytes: bytes.length }),
    onCall: () => undefined,
    onSpent: () => undefined,
    onFailure: (error) => expect.fail(String(error)),
  });
}
const account = async (): Promise<Account> => (await accounts.get<Account>("run_a"))?.value ?? NEW_ACCOUNT;

function dial(first: string): Socket {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  socket.write(`${TOKEN} data\n${first}`);
  return socket;
}
const get = (path: string, more = ""): string =>
  `GET http://${NAMES.other}${path} HTTP/1.1\r\nHost: ${NAMES.other}\r\n${more}\r\n`;
const post = (path: string, size: number): string =>
  `POST http://${NAMES.other}${path} HTTP/1.1\r\nHost: ${NAMES.other}\r\nContent-Length: ${size}\r\n\r\n`;
const CALL = "/v1/chat/completions";
function call(says: string): string {
  const body = JSON.stringify({ model: "m-1", messages: [{ role: "user", content: says }] });
  const head = `POST http://${NAMES.openai}${CALL} HTTP/1.1\r\nHost: ${NAMES.openai}\r\n`;
  return `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}
const heard = (socket: Socket): Promise<string> => text(socket).catch(() => "");

describe("a request body", () => {
  it("that exceeds the quota while the name is being resolved is refused with 429, and other requests go on", async () => {
    let found = (_endpoint: Endpoint): void => undefined;
    resolve = () => new Promise((done) => (found = done));
    quota.up(limits.egressUpBytes);
    const answer = heard(dial(`${post("/over", 4)}body`));
    await eventually("the body is over the quota", () => quota.used.up > limits.egressUpBytes);
    found(there());
    expect(await answer).toMatch(/^HTTP\/1\.1 429 ANT_EGRESS_QUOTA\r\n/);
    resolve = () => Promise.resolve(there());
    expect(await heard(dial(get("/fine", "Connection: close\r\n")))).toMatch(/^HTTP\/1\.1 200 /);
    expect(lines.map(({ path, rule, decision }) => [path, rule, decision])).toEqual([
      ["/over", "quota", "refuse"],
      ["/fine", "allowlist", "allow"],
    ]);
    expect(open.has("/over")).toBe(false);
  });

  it("that exceeds the quota after its request failed, while its answer is still queued, ends no other request", async () => {
    quota.up(limits.egressUpBytes - 4);
    const socket = dial(get("/silent"));
    await eventually("the first request has arrived", () => open.has("/silent"));
    resolve = () => Promise.reject(new EgressRefusal("ANT_EGRESS_UPSTREAM", "host:resolve", "no such name"));
    socket.write(`${post("/nowhere", 8)}half`);
    await eventually("the second request has failed", () => lines.length === 1);
    socket.write("rest");
    await eventually("the rest is over the quota", () => quota.used.up > limits.egressUpBytes);
    expect(lines).toEqual([expect.objectContaining({ path: "/nowhere", rule: "host:resolve" })]);
    expect(open.has("/silent")).toBe(true);
    socket.destroy();
  });
});

describe("the log of a sandbox", () => {
  it.each([
    ["refused tunnels", "CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example:443\r\n\r\n"],
    ["unreadable requests", "GET / HTTP/9.9\r\n\r\n"],
  ])(
    "cannot be filled by %s so that a later request leaves without a line (egress-gateway/E6)",
    async (_, junk) => {
      const callsBefore = calls;
      for (let i = 2; i < limits.egressRequests; i += 1) quota.request();
      await heard(dial(junk));
      await heard(dial(junk));
      expect(await heard(dial(get("/unseen")))).toMatch(/^HTTP\/1\.1 429 ANT_EGRESS_QUOTA\r\n/);
      expect(calls).toBe(callsBefore);
      expect(lines).toHaveLength(3);
    },
  );
});

const NOTHING_SPENT = { used: { tokens: 0, usd_micro: 0 }, reserved: { tokens: 0, usd_micro: 0 }, calls: 1 };
const EARLY: [string, Partial<Deadlines>][] = [
  ["client:idle", { idleMs: 900 }],
  ["request:long", { requestMs: 900 }],
];

describe("an answer that the sandbox does not take", () => {
  it.each(EARLY)(
    "ends at its deadline when it is a model call's, and the call is settled: %s",
    async (rule, early) => {
      await listener.close();
      await listen({ ...DEADLINES, ...early });
      const socket = dial(call("endless")).pause();
      await eventually("the call has arrived", () => open.has(CALL));
      await eventually("it has a log line", () => lines.length === 1);
      expect(lines).toEqual([expect.objectContaining({ path: CALL, rule, code: "ANT_EGRESS_TIMEOUT" })]);
      const { used, reserved } = await account();
      expect([used.tokens > 100, reserved.tokens]).toEqual([true, 0]); // an answer is bounded by 100 tokens
      await eventually("the upstream's connection is closed", () => !open.has(CALL));
      socket.destroy();
    },
  );

  it.each(["the sandbox hangs up", "the lease ends"])(
    "egress-gateway/E7: ends with its connection when it is queued behind another answer: %s",
    async (how) => {
      const socket = dial(get("/silent") + get("/fine") + get("/silent/too") + call("endless"));
      await eventually("all requests have arrived", () => open.has("/silent/too") && open.has(CALL));
      // More than the high-water mark of a response.
      await eventually("the model's answer waits", () => quota.used.down >= 1 << 14);
      if (how === "the sandbox hangs up") {
        socket.destroy();
        await eventually("each has a log line", () => lines.length === 4);
      }
      await listener.close();
      expect(lines.map(({ path, rule }) => `${path} ${rule}`).sort()).toEqual(
        ["/fine", "/silent", "/silent/too", CALL].map((path) => `${path} client:gone`),
      );
      expect((await account()).reserved.tokens).toBe(0);
      await eventually("the upstream's connections are closed", () => open.size === 0);
    },
  );
});

describe("a connection", () => {
  it("may have many requests under way at once, and each ends with it", async () => {
    const paths = Array.from({ length: 30 }, (_, i) => `/silent/${i}`);
    const socket = dial(paths.map((path) => get(path)).join(""));
    await eventually("all requests have arrived", () => open.size === paths.length);
    socket.destroy();
    await eventually("each has a log line", () => lines.length === paths.length);
    expect([...new Set(lines.map(({ rule }) => rule))]).toEqual(["client:gone"]);
  });

  it("that takes a long answer slowly gets all of it, and no listener is leaked", async () => {
    const socket = dial(call("long").replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
    expect((await heard(socket)).length).toBeGreaterThan(16 << 20);
    await eventually("it has a log line", () => lines.length === 1);
    expect(lines).toEqual([expect.objectContaining({ path: CALL, decision: "allow" })]);
  });

  it("that the upstream breaks in the middle of an answer is logged as the upstream's fault", async () => {
    const answer = heard(dial(get("/half")));
    expect(await answer).toMatch(/^HTTP\/1\.1 200 [^]*half$/);
    await eventually("it has a log line", () => lines.length === 1);
    expect(lines).toEqual([expect.objectContaining({ path: "/half", rule: "upstream:failed" })]);
  });
});

describe("an answer that switches protocols", () => {
  it("is refused as the upstream's fault, and has a log line", async () => {
    expect(await heard(dial(get("/switch")))).toMatch(
      /^HTTP\/1\.1 502 ANT_EGRESS_UPSTREAM\r\n[^]*closed without an answer/,
    );
    await eventually("it has a log line", () => lines.length === 1);
    expect(lines).toEqual([
      expect.objectContaining({ path: "/switch", rule: "upstream:failed", decision: "fault", status: 502 }),
    ]);
  });

  it("to a model call is charged in full, since the call reached the upstream", async () => {
    expect(await heard(dial(call("switch")))).toMatch(/^HTTP\/1\.1 502 ANT_EGRESS_UPSTREAM\r\n/);
    const { used, reserved } = await account();
    expect([used.tokens > 100, reserved.tokens]).toEqual([true, 0]); // an answer is bounded by 100 tokens
  });
});

describe("a model call that never left", () => {
  it.each(["ANT_EGRESS_UPSTREAM", "ANT_EGRESS_ADDRESS"] as const)(
    "because its host has no permitted address costs nothing: %s",
    async (code) => {
      resolve = () => Promise.reject(new EgressRefusal(code, "host:none", "no such place"));
      expect(await heard(dial(call("hi")))).toContain(` ${code}\r\n`);
      expect(await account()).toMatchObject(NOTHING_SPENT);
    },
  );

  it("because its sandbox hung up first costs nothing and does not reach the upstream", async () => {
    let found = (_endpoint: Endpoint): void => undefined;
    let isAsked = false;
    resolve = () =>
      new Promise((done) => {
        isAsked = true;
        found = done;
      });
    const before = calls;
    const socket = dial(call("hi"));
    await eventually("it is reserved, and its name is being resolved", () => isAsked);
    expect((await account()).reserved.tokens).toBeGreaterThan(100); // an answer is bounded by 100 tokens
    socket.destroy();
    await eventually("the end of its exchange is known", () => asking?.signal.aborted === true);
    found(there());
    await listener.close();
    expect(lines).toEqual([expect.objectContaining({ path: CALL, rule: "client:gone" })]);
    expect(await account()).toMatchObject(NOTHING_SPENT);
    expect(calls).toBe(before);
  });
});
