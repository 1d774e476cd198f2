/**
 * How an exchange of an egress gateway ends when something breaks at a bad moment: a body while the other side is still
 * being looked for, a connection while its answer waits for another one's. Over loopback; the other side does as its
 * path says, and a name is resolved when the test says so.
 */
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo, type Server as TcpServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { limits } from "@antiphon/contracts";
import { SandboxAuthority } from "../../services/egress-gateway/src/adapters/authority.ts";
import type { Endpoint } from "../../services/egress-gateway/src/adapters/resolver.ts";
import { SandboxListener } from "../../services/egress-gateway/src/adapters/sandbox-listener.ts";
import { Upstream } from "../../services/egress-gateway/src/adapters/upstream.ts";
import type { LogEntry } from "../../services/egress-gateway/src/core/log-entry.ts";
import { compilePolicy } from "../../services/egress-gateway/src/core/policy.ts";
import { Quota } from "../../services/egress-gateway/src/core/quota.ts";
import { EgressRefusal } from "../../services/egress-gateway/src/core/refusal.ts";
import { NAMES } from "../support/egress-upstreams.ts";
import { eventually } from "../support/nats.ts";

const DEADLINES = { handshakeMs: 2_000, idleMs: 5_000, requestMs: 60_000, checkMs: 20 };
const TOKEN = "a".repeat(64);

let server: Server;
let listener: SandboxListener;
let upstream: Upstream;
let port = 0;
let quota: Quota;
let lines: LogEntry[] = [];
/** What the other side is busy with, by path. */
const open = new Set<string>();
/** How names are resolved; set by a test. */
let resolve: (host: string) => Promise<Endpoint>;
/** What nobody listened to: it would have ended the gateway. */
const uncaught: unknown[] = [];
const onUncaught = (error: unknown): void => void uncaught.push(error);

const portOf = (of: TcpServer): number => (of.address() as AddressInfo).port;
const there = (): Endpoint => ({ address: "127.0.0.1", port: portOf(server) });

beforeAll(async () => {
  process.on("uncaughtException", onUncaught);
  server = createServer((request, response) => {
    const url = request.url ?? "";
    open.add(url);
    response.once("close", () => open.delete(url));
    if (url.startsWith("/silent")) return;
    request.resume().on("end", () => response.end("fine"));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});
afterAll(async () => {
  process.off("uncaughtException", onUncaught);
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

beforeEach(async () => {
  lines = [];
  quota = new Quota();
  resolve = () => Promise.resolve(there());
  await listen();
});
afterEach(async () => {
  await listener.close();
  upstream.close();
  expect(uncaught.splice(0)).toEqual([]);
});

async function listen(): Promise<void> {
  const asked = (host: string): Promise<Endpoint> => resolve(host);
  upstream = new Upstream(asked, []);
  listener = new SandboxListener({
    token: TOKEN,
    authority: new SandboxAuthority("lease", Date.now()),
    resolve: asked,
    onAbandoned: () => undefined,
    ports: {
      policy: compilePolicy({ mode: "allowlist", allowlist: [NAMES.other] }, null, []),
      known: [],
      credentials: [],
      needles: [],
      upstream,
      quota,
      deadlines: DEADLINES,
      log: (entry) => void lines.push(entry),
      model: () => Promise.reject(new Error("no model here")),
      now: Date.now,
    },
  });
  port = await listener.listen("127.0.0.1", [0]);
}

function dial(first: string): Socket {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  socket.write(`${TOKEN} data\n${first}`);
  return socket;
}
const get = (path: string): string =>
  `GET http://${NAMES.other}${path} HTTP/1.1\r\nHost: ${NAMES.other}\r\n\r\n`;
const post = (path: string, size: number): string =>
  `POST http://${NAMES.other}${path} HTTP/1.1\r\nHost: ${NAMES.other}\r\nContent-Length: ${size}\r\n\r\n`;
const heard = (socket: Socket): Promise<string> => text(socket).catch(() => "");

describe("a body that breaks", () => {
  it("U5, Q1: over the quota while the name is still asked for is refused with 429, and others go on", async () => {
    let found = (_endpoint: Endpoint): void => undefined;
    resolve = () => new Promise((done) => (found = done));
    quota.up(limits.egressUpBytes);
    const answer = heard(dial(`${post("/over", 4)}body`));
    await eventually("the body is over the quota", () => quota.used.up > limits.egressUpBytes);
    found(there());
    expect(await answer).toMatch(/^HTTP\/1\.1 429 ANT_EGRESS_QUOTA\r\n/);
    resolve = () => Promise.resolve(there());
    const next = dial(get("/fine"));
    next.once("data", () => next.end());
    expect(await heard(next)).toMatch(/^HTTP\/1\.1 200 /);
    expect(lines.map(({ path, rule, decision }) => [path, rule, decision])).toEqual([
      ["/over", "quota", "refuse"],
      ["/fine", "allowlist", "allow"],
    ]);
    expect(open.has("/over")).toBe(false);
  });

  it("U5: over the quota after its request failed, though its answer still waits for its turn, ends nothing", async () => {
    quota.up(limits.egressUpBytes - 4);
    const socket = dial(get("/silent"));
    await eventually("the first one is asked for", () => open.has("/silent"));
    resolve = () => Promise.reject(new EgressRefusal("ANT_EGRESS_UPSTREAM", "host:resolve", "no such name"));
    socket.write(`${post("/nowhere", 8)}half`);
    await eventually("the second one has failed", () => lines.length === 1);
    socket.write("rest");
    await eventually("the rest is over the quota", () => quota.used.up > limits.egressUpBytes);
    expect(lines).toEqual([expect.objectContaining({ path: "/nowhere", rule: "host:resolve" })]);
    expect(open.has("/silent")).toBe(true);
    socket.destroy();
  });
});
