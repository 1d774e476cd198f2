/**
 * Nothing leaves the gateway too early: before the policy, or the run's account, has allowed a request, no name is
 * resolved, no certificate is made and no model is called. Over loopback, with real NATS.
 */
import { randomBytes } from "node:crypto";
import { createServer as createTlsServer, type Server } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectTls, type SecureContext, type TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { BUCKETS, digestOf, type EgressOpened } from "@antiphon/contracts";
import { createLogger, openKv, provision, silentMeter, type Bus } from "@antiphon/runtime";
import { SandboxAuthority } from "../../../services/egress-gateway/src/tls/authority.ts";
import { BudgetStore } from "../../../services/egress-gateway/src/models/budget-store.ts";
import { SandboxListener } from "../../../services/egress-gateway/src/proxy/sandbox-listener.ts";
import { Upstream } from "../../../services/egress-gateway/src/proxy/upstream.ts";
import type { Account } from "../../../services/egress-gateway/src/models/ledger.ts";
import { compilePolicy } from "../../../services/egress-gateway/src/policy/policy.ts";
import { Quota } from "../../../services/egress-gateway/src/policy/quota.ts";
import { Leases } from "../../../services/egress-gateway/src/leases/leases.ts";
import { proxyProbes, type ProxyProbe } from "../../support/egress-probes.ts";
import { grantOf, settingsFor } from "../../support/egress-world.ts";
import { NAMES } from "../../support/egress-upstreams.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";
import { patient } from "../../support/patience.ts";

const DEADLINES = { handshakeMs: 1_000, idleMs: 2_000, requestMs: 60_000, checkMs: 20 };

const outside = new SandboxAuthority("test upstreams", Date.now());
let server: Server;
/** How the upstream answers; set by a test. */
let hear: (path: string) => Promise<object> = () => Promise.resolve({});

beforeAll(async () => {
  server = createTlsServer({ SNICallback: (name, done) => done(null, outside.contextFor(name)) });
  server.on("request", (request, response) => {
    void text(request)
      .then(() => hear(request.url ?? ""))
      .then((answer) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end(JSON.stringify(answer));
      });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const there = () => ({ address: "127.0.0.1", port: (server.address() as AddressInfo).port });
const settings = () =>
  settingsFor({
    authority: outside.certificate,
    overrides: new Map(Object.values(NAMES).map((host) => [`${host}:443`, there()] as const)),
  });

interface Door {
  readonly port: number;
  readonly token: string;
}

function dial({ port, token }: Door, first: string): Socket {
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  socket.write(`${token} data\n`);
  socket.write(first, "latin1");
  return socket;
}

/** Inside a tunnel that was granted; null when it was not, or when no TLS came of it. */
async function tunnel(to: Door, first: string, name: string | null): Promise<TLSSocket | null> {
  const socket = dial(to, first);
  const head = await new Promise<string>((resolve) => {
    socket.once("data", (piece) => resolve(String(piece)));
    socket.once("close", () => resolve(""));
  });
  if (!head.includes(" 200 ")) return null;
  const tls = connectTls({
    socket,
    rejectUnauthorized: false,
    ...(name === null ? {} : { servername: name }),
  });
  tls.on("error", () => undefined);
  return new Promise((resolve) => {
    tls.once("secureConnect", () => resolve(tls));
    tls.once("close", () => resolve(null));
  });
}

describe("a listener", () => {
  const issued: string[] = [];
  const asked: string[] = [];
  let listener: SandboxListener;
  let door: Door;

  class WatchedAuthority extends SandboxAuthority {
    override contextFor(host: string): SecureContext {
      issued.push(host);
      return super.contextFor(host);
    }
  }

  beforeEach(async () => {
    issued.length = 0;
    asked.length = 0;
    const { known, upstreamCa } = settings();
    const resolve = (host: string) => {
      asked.push(host);
      return Promise.resolve(there());
    };
    const token = randomBytes(32).toString("hex");
    listener = new SandboxListener({
      token,
      authority: new WatchedAuthority("lease", Date.now()),
      resolve,
      onAbandoned: () => undefined,
      ports: {
        policy: compilePolicy({ mode: "allowlist", allowlist: [NAMES.echo, NAMES.git] }, null, known),
        known,
        credentials: [],
        secrets: [],
        upstream: new Upstream(resolve, upstreamCa),
        quota: new Quota(),
        deadlines: DEADLINES,
        log: () => undefined,
        model: () => Promise.reject(new Error("no model here")),
        checkpoint: () => Promise.reject(new Error("no checkpoints here")),
        now: Date.now,
      },
    });
    door = { port: await listener.listen("127.0.0.1", [0]), token };
  });
  afterEach(() => listener.close());

  async function tried(probe: ProxyProbe): Promise<void> {
    if (probe.tls === undefined) {
      await text(dial(door, probe.send)).catch(() => "");
      return;
    }
    const tls = await tunnel(door, probe.send, probe.tls.name);
    if (tls === null) return;
    tls.write(probe.tls.send, "latin1");
    await text(tls).catch(() => "");
  }

  it("egress-gateway/E6: makes no certificate and resolves no name for a request that the policy refuses", async () => {
    const probes = proxyProbes(NAMES.echo, NAMES.other, NAMES.git);
    await Promise.all(probes.map(tried));
    expect(asked).toEqual([]);
    // Requests refused inside a granted tunnel were sent in TLS of that host only.
    expect([...new Set(issued)].sort()).toEqual([NAMES.echo, NAMES.git]);
    console.log(`before the policy: ${probes.length} tried, ${asked.length} names asked for`);
  });

  it("egress-gateway/E5: makes no certificate when TLS names another host than CONNECT, or when the tunnel is refused", async () => {
    const to = (host: string): string => `CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`;
    expect(await tunnel(door, to(NAMES.other), NAMES.other)).toBeNull();
    expect(await tunnel(door, to(NAMES.echo), NAMES.other)).toBeNull();
    expect(await tunnel(door, to(NAMES.echo), `x.${NAMES.echo}`)).toBeNull();
    expect(issued).toEqual([]);
    const granted = await tunnel(door, to(NAMES.echo), NAMES.echo);
    expect(granted?.getPeerCertificate().subjectaltname).toBe(`DNS:${NAMES.echo}`);
    expect(issued).toEqual([NAMES.echo]);
    granted?.destroy();
  });

  it("resolves an allowed name once", async () => {
    const to = `CONNECT ${NAMES.echo}:443 HTTP/1.1\r\nHost: ${NAMES.echo}:443\r\n\r\n`;
    const tls = await tunnel(door, to, NAMES.echo);
    expect(asked).toEqual([]);
    tls?.write(`GET / HTTP/1.1\r\nHost: ${NAMES.echo}\r\nConnection: close\r\n\r\n`);
    expect(tls === null ? "" : await text(tls)).toMatch(/^HTTP\/1\.1 200 /);
    expect(asked).toEqual([NAMES.echo]);
  });
});

describe("a model call", () => {
  const log = createLogger("test", { level: "silent" });
  let nats: NatsServer;
  let bus: Bus;
  let leases: Leases;
  let lease: EgressOpened;

  beforeAll(async () => {
    nats = await startNats();
    bus = await nats.connect();
    await provision(bus);
  });
  afterAll(() => nats.close());
  beforeEach(async () => {
    leases = new Leases({
      settings,
      budgets: new BudgetStore(openKv(bus, BUCKETS.budgets)),
      read: () => Promise.reject(new Error("nothing is replayed")),
      store: (bytes) =>
        Promise.resolve({ bucket: "b", name: "log", digest: digestOf(bytes), bytes: bytes.length }),
      node: "eg_test",
      meter: silentMeter,
      log,
      now: Date.now,
    });
    const grant = grantOf(["unused.example.test"], { tokens: 1_000_000 });
    lease = await leases.opened({ run: "run_b", task: "T-001", epoch: 1, jobId: "j", grant });
    const control = connect(lease.port, lease.host).on("error", () => undefined);
    control.write(`${lease.token} control\n`);
    await new Promise((resolve) => control.once("data", resolve));
  });
  afterEach(() => leases.closeAll());

  async function call(): Promise<string> {
    const host = NAMES.openai;
    const tls = await tunnel(lease, `CONNECT ${host}:443 HTTP/1.1\r\nHost: ${host}:443\r\n\r\n`, host);
    const body = JSON.stringify({ model: "m-1", messages: [{ role: "user", content: "hi" }] });
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n`;
    tls?.write(`${head}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    return tls === null ? "" : text(tls);
  }
  const account = async (): Promise<Account | null> =>
    (await openKv(bus, BUCKETS.budgets).get<Account>("run_b"))?.value ?? null;

  it("egress-gateway/E4: does not leave when its reservation cannot be stored, and is refused with the code of the budget", async () => {
    let heard = 0;
    hear = () => Promise.resolve({ heard: (heard += 1) });
    await nats.kill();
    try {
      expect(await call()).toMatch(/^HTTP\/1\.1 402 ANT_EGRESS_BUDGET\r\n/);
      expect(heard).toBe(0);
    } finally {
      await nats.restart();
    }
    await expect.poll(() => bus.connected, { timeout: patient(20_000) }).toBe(true);
    expect(await call()).toMatch(/^HTTP\/1\.1 200 /);
    expect(heard).toBe(1);
  });

  it("egress-gateway/E4: is reserved at its most in the stored account before it reaches the upstream", async () => {
    const before = (await account())?.reserved.tokens ?? 0;
    const seen: number[] = [];
    hear = async () => {
      seen.push(((await account())?.reserved.tokens ?? 0) - before);
      return { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } };
    };
    expect(await call()).toMatch(/^HTTP\/1\.1 200 /);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toBeGreaterThan(100); // the bound of the answer, plus the bound of the body
    expect((await account())?.reserved.tokens).toBe(before);
  });
});
