/** A deployment behind a proxy: what leaves a sandbox passes through it, over a real CONNECT proxy and real TLS. */
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { BUCKETS, digestOf } from "@antiphon/contracts";
import { createLogger, openKv, provision, silentMeter } from "@antiphon/runtime";
import { MemoryKv } from "@antiphon/runtime/testing/memory-kv";
import type { EgressSettings } from "../../../services/egress-gateway/src/config.ts";
import { Leases } from "../../../services/egress-gateway/src/leases/leases.ts";
import { BudgetStore } from "../../../services/egress-gateway/src/models/budget-store.ts";
import { NEW_ACCOUNT, type Account } from "../../../services/egress-gateway/src/models/ledger.ts";
import { Quota } from "../../../services/egress-gateway/src/policy/quota.ts";
import { EgressRefusal } from "../../../services/egress-gateway/src/policy/refusal.ts";
import { DEADLINES, type Deadlines } from "../../../services/egress-gateway/src/proxy/deadlines.ts";
import { resolverOf } from "../../../services/egress-gateway/src/proxy/resolver.ts";
import { passThrough, type Dial } from "../../../services/egress-gateway/src/proxy/tunnel.ts";
import {
  throughProxy,
  type UpstreamProxy,
} from "../../../services/egress-gateway/src/proxy/upstream-proxy.ts";
import { Upstream } from "../../../services/egress-gateway/src/proxy/upstream.ts";
import { SandboxAuthority } from "../../../services/egress-gateway/src/tls/authority.ts";
import { startConnectProxy, type ConnectProxy, type ProxyRules } from "../../support/connect-proxy.ts";
import { NAMES, startUpstreams, type Upstreams } from "../../support/egress-upstreams.ts";
import { CANARY, grantOf, settingsFor } from "../../support/egress-world.ts";
import { eventually, startNats } from "../../support/nats.ts";
import { patient } from "../../support/patience.ts";

const PASSWORD = "Basic dXNlcjpwYXNzd29yZA==";

const outside = new SandboxAuthority("a proxy", Date.now());
let upstreams: Upstreams;
let proxy: ConnectProxy;
let upstream: Upstream | null = null;

beforeAll(async () => {
  upstreams = await startUpstreams("/nowhere");
});
afterAll(() => upstreams.close());
afterEach(async () => {
  upstream?.close();
  upstream = null;
  await proxy.close();
});

async function behind(
  rules: Partial<ProxyRules>,
  more: Partial<UpstreamProxy> = {},
): Promise<EgressSettings> {
  const ways = new Map([
    [`${NAMES.echo}:443`, upstreams.port],
    [`${NAMES.openai}:443`, upstreams.port],
    [`${NAMES.other}:80`, upstreams.plainPort],
    ["8.8.8.8:80", upstreams.plainPort],
  ]);
  proxy = await startConnectProxy({ ways, ...rules });
  const made = {
    scheme: "http",
    host: "127.0.0.1",
    port: proxy.port,
    authorization: null,
    byName: true,
  } as const;
  return {
    ...settingsFor({ authority: upstreams.authority, overrides: new Map() }),
    proxy: { ...made, ...more },
  };
}

async function get(settings: EgressSettings, scheme: "http" | "https", host: string): Promise<string> {
  upstream = new Upstream(resolverOf(settings), settings.upstreamCa, settings.proxy);
  const answer = await upstream.send({
    target: { scheme, host, port: scheme === "https" ? 443 : 80, path: "/x", query: null },
    method: "GET",
    headers: {},
    body: null,
    signal: AbortSignal.timeout(10_000),
  });
  return text(answer);
}

it("is a tunnel to each host by its name, in which TLS is verified as without it", async () => {
  const settings = await behind({});
  expect(JSON.parse(await get(settings, "https", NAMES.echo))).toMatchObject({ host: NAMES.echo, url: "/x" });
  expect(JSON.parse(await get(settings, "http", NAMES.other))).toMatchObject({ host: NAMES.other });
  expect(proxy.asked.map(({ place }) => place)).toEqual([`${NAMES.echo}:443`, `${NAMES.other}:80`]);
  const distrusting = { ...settings, upstreamCa: [outside.certificate] };
  await expect(get(distrusting, "https", NAMES.echo)).rejects.toMatchObject({
    code: "ANT_EGRESS_UPSTREAM",
    message: expect.stringMatching(/ does not know the authority .* `upstream_ca_file`$/) as string,
  });
});

it("keeps a connection for the next request", async () => {
  const settings = await behind({});
  upstream = new Upstream(resolverOf(settings), settings.upstreamCa, settings.proxy);
  const target = { scheme: "https", host: NAMES.echo, port: 443, path: "/x", query: null } as const;
  for (let n = 0; n < 3; n += 1) {
    const signal = AbortSignal.timeout(10_000);
    await text(await upstream.send({ target, method: "GET", headers: {}, body: null, signal }));
  }
  expect(proxy.asked).toHaveLength(1);
});

it("is told its password, which reaches nobody else", async () => {
  const settings = await behind({ authorization: PASSWORD }, { authorization: PASSWORD });
  const echoed = await get(settings, "https", NAMES.echo);
  expect(echoed).not.toContain("dXNlcjpwYXNzd29yZA");
  expect(proxy.asked).toEqual([{ place: `${NAMES.echo}:443`, authorization: PASSWORD }]);
});

it.each([
  ["a password that it refuses", { authorization: PASSWORD }, NAMES.echo, "it refuses our credentials (407)"],
  ["a host that it refuses", {}, NAMES.git, "it answered 403"],
])("refuses a request with %s, and says so", async (_what, rules, host, why) => {
  const settings = await behind(rules);
  await expect(get(settings, "https", host)).rejects.toMatchObject({
    code: "ANT_EGRESS_UPSTREAM",
    rule: "proxy:failed",
    message: expect.stringContaining(why) as string,
  });
});

it("is named when it cannot be reached", async () => {
  const settings = await behind({});
  await proxy.close();
  await expect(get(settings, "https", NAMES.echo)).rejects.toMatchObject({
    rule: "proxy:failed",
    message: expect.stringContaining("ECONNREFUSED") as string,
  });
  proxy = await startConnectProxy({ ways: new Map() });
});

it("is spoken to over TLS whose certificate is checked", async () => {
  const rules = { contextFor: (name: string) => outside.contextFor(name) };
  const settings = await behind(rules, { scheme: "https", host: "localhost" });
  await expect(get(settings, "https", NAMES.echo)).rejects.toMatchObject({ rule: "proxy:failed" });
  const trusting = { ...settings, upstreamCa: [...settings.upstreamCa, outside.certificate] };
  expect(JSON.parse(await get(trusting, "https", NAMES.echo))).toMatchObject({ host: NAMES.echo });
});

it("egress-gateway/E3: without by_name it is given addresses that were resolved and checked here", async () => {
  const settings = await behind({}, { byName: false });
  await expect(get(settings, "http", "localhost")).rejects.toMatchObject({ code: "ANT_EGRESS_ADDRESS" });
  await expect(get(settings, "http", "no-such-host.invalid")).rejects.toMatchObject({ rule: "host:resolve" });
  expect(proxy.asked).toEqual([]);
  expect(JSON.parse(await get(settings, "http", "8.8.8.8"))).toMatchObject({ host: "8.8.8.8" });
  expect(proxy.asked.map(({ place }) => place)).toEqual(["8.8.8.8:80"]);
});

it("egress-gateway/E3: a private address is refused also if the proxy resolves names", async () => {
  const settings = await behind({});
  await expect(get(settings, "http", "10.0.0.1")).rejects.toMatchObject({ code: "ANT_EGRESS_ADDRESS" });
  expect(proxy.asked).toEqual([]);
});

it("is left out for what the deployment names itself", async () => {
  const { upstreamCa, proxy: through } = await behind({});
  const at = { address: "127.0.0.1", port: upstreams.plainPort };
  const overrides = new Map([[`${NAMES.packages}:80`, at]]);
  const resolve = resolverOf({ privateHosts: [], overrides, proxy: through }, new Set(["localhost:8080"]));
  expect(await resolve(NAMES.packages, 80)).toEqual(at);
  expect(await resolve("localhost", 8080)).toMatchObject({ isProxied: false });
  upstream = new Upstream(resolve, upstreamCa, through);
  expect(proxy.asked).toEqual([]);
});

it("carries tunnels whose TLS is passed through, and counts their bytes", async () => {
  const settings = await behind({});
  const through = settings.proxy;
  if (through === null) throw new Error("no proxy");
  const passed = { up: 0, down: 0 };
  let ended: Promise<void> = Promise.resolve();
  const door = createTcpServer((inside: Socket) => {
    const to = { address: NAMES.echo, port: 443, isProxied: true };
    const dial: Dial = (end, signal) => throughProxy(through, end, settings.upstreamCa, { signal });
    ended = passThrough(inside, to, passed, new Quota(), { idleMs: 10_000, dial });
  });
  await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
  const tls = connectTls({
    socket: connect((door.address() as AddressInfo).port, "127.0.0.1"),
    servername: NAMES.echo,
    ca: [upstreams.authority],
  });
  tls.write(`GET /y HTTP/1.1\r\nHost: ${NAMES.echo}\r\nConnection: close\r\n\r\n`);
  expect(await text(tls)).toContain('"url":"/y"');
  await ended;
  expect(passed.up).toBeGreaterThan(200);
  expect(passed.down).toBeGreaterThan(500);
  await new Promise((resolve) => door.close(resolve));
});

type Budgets = ConstructorParameters<typeof BudgetStore>[0];

function leasesOf(
  settings: EgressSettings,
  budgets: Budgets,
  deadlines: Deadlines = DEADLINES,
): { readonly leases: Leases; readonly log: () => string } {
  const stored: Buffer[] = [];
  const leases = new Leases({
    settings: () => settings,
    budgets: new BudgetStore(budgets),
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
  return { leases, log: () => stored.at(-1)?.toString("utf8") ?? "" };
}

/** Sends a model call from a sandbox of a new lease. */
async function called(leases: Leases): Promise<{ readonly lease: string; readonly tls: TLSSocket }> {
  const grant = grantOf(["unused.example.test"], { tokens: 1_000_000 });
  const lease = await leases.opened({ run: "run_p", task: "T-001", epoch: 1, jobId: "j", grant });
  const dialed = (first: string): Socket => {
    const socket = connect(lease.port, lease.host).on("error", () => undefined);
    socket.write(`${lease.token} ${first}`);
    return socket;
  };
  await new Promise((resolve) => dialed("control\n").once("data", resolve));
  const socket = dialed(`data\nCONNECT ${NAMES.openai}:443 HTTP/1.1\r\nHost: ${NAMES.openai}:443\r\n\r\n`);
  await new Promise((resolve) => socket.once("data", resolve));
  const tls = connectTls({ socket, servername: NAMES.openai, rejectUnauthorized: false });
  const body = JSON.stringify({ model: "m-1", messages: [{ role: "user", content: "hi" }] });
  tls.write(
    `POST /v1/chat/completions HTTP/1.1\r\nHost: ${NAMES.openai}\r\nContent-Type: application/json\r\n` +
      `Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return { lease: lease.lease, tls };
}

it("carries a sandbox's model calls, with the model's key inside the tunnel only", async () => {
  const nats = await startNats();
  const bus = await nats.connect();
  await provision(bus);
  const settings = await behind({ authorization: PASSWORD }, { authorization: PASSWORD });
  const { leases } = leasesOf(settings, openKv(bus, BUCKETS.budgets));
  try {
    const { tls } = await called(leases);
    expect(await text(tls)).toMatch(/^HTTP\/1\.1 200 /);
    expect(proxy.asked).toEqual([{ place: `${NAMES.openai}:443`, authorization: PASSWORD }]);
    const heard = upstreams.heard.findLast(({ host }) => host === NAMES.openai);
    expect(heard?.headers["authorization"]).toBe(`Bearer ${CANARY}`);
    expect(heard?.headers["proxy-authorization"]).toBeUndefined();
  } finally {
    leases.closeAll();
    await nats.close();
  }
});

describe.each([
  ["does not answer CONNECT", "asked", "the upstream proxy: no answer"],
  ["is silent after its 200, in the TLS handshake", "answered", `${NAMES.echo}: no TLS handshake`],
] as const)("a proxy that %s", (_what, silentOnce, late) => {
  /** Sends a request that waits for the proxy. */
  async function waiting(
    signal: AbortSignal,
    connectMs?: number,
  ): Promise<{ readonly sent: Promise<unknown> }> {
    const settings = await behind({ silentOnce });
    upstream = new Upstream(resolverOf(settings), settings.upstreamCa, settings.proxy, connectMs);
    const target = { scheme: "https", host: NAMES.echo, port: 443, path: "/x", query: null } as const;
    const sent = upstream.send({ target, method: "GET", headers: {}, body: null, signal });
    sent.catch(() => undefined); // each test awaits it later
    await eventually("the request waits for the proxy", () => proxy.waiting === 1);
    return { sent };
  }
  const nothingRemains = (): Promise<void> =>
    eventually("no connection remains", () => proxy.waiting === 0, 1_000);

  it("holds no request that is aborted", { timeout: patient(5_000) }, async () => {
    const stop = new AbortController();
    const { sent } = await waiting(stop.signal);
    const reason = new EgressRefusal("ANT_EGRESS_TIMEOUT", "upstream:idle", "it went silent");
    const startedAt = Date.now();
    stop.abort(reason);
    await expect(sent).rejects.toBe(reason);
    expect(Date.now() - startedAt).toBeLessThan(1_000);
    await nothingRemains();
  });

  it("holds no request once the gateway closes its connections", { timeout: patient(5_000) }, async () => {
    const { sent } = await waiting(new AbortController().signal);
    upstream?.close();
    await expect(sent).rejects.toMatchObject({ code: "ANT_EGRESS_UPSTREAM", rule: "upstream:failed" });
    await nothingRemains();
  });

  it("holds a request until a deadline of its own at most", { timeout: patient(5_000) }, async () => {
    const { sent } = await waiting(new AbortController().signal, 700);
    await expect(sent).rejects.toMatchObject({
      code: "ANT_EGRESS_UPSTREAM",
      message: `${late} for 700 ms`,
    });
    await nothingRemains();
  });

  it(
    "egress-gateway/E7: makes a model call a 504 that costs nothing and holds no budget",
    { timeout: patient(10_000) },
    async () => {
      const accounts = new MemoryKv();
      const { leases, log } = leasesOf(await behind({ silentOnce }), accounts, { ...DEADLINES, idleMs: 700 });
      try {
        const { lease, tls } = await called(leases);
        expect(await text(tls)).toMatch(/^HTTP\/1\.1 504 ANT_EGRESS_TIMEOUT\r\n[^]*"upstream:idle"/);
        await nothingRemains();
        await leases.closed(lease);
        expect(JSON.parse(log())).toMatchObject({ rule: "upstream:idle", status: 504 });
        const { used, reserved } = (await accounts.get<Account>("run_p"))?.value ?? NEW_ACCOUNT;
        expect([used.tokens, reserved.tokens]).toEqual([0, 0]);
      } finally {
        leases.closeAll();
      }
    },
  );

  it("egress-gateway/E6: does not keep a lease from ending", { timeout: patient(10_000) }, async () => {
    const accounts = new MemoryKv();
    const { leases, log } = leasesOf(await behind({ silentOnce }), accounts);
    const { lease, tls } = await called(leases);
    tls.on("error", () => undefined);
    await eventually("the call waits for the proxy", () => proxy.waiting === 1);
    await leases.closed(lease);
    expect(JSON.parse(log())).toMatchObject({ rule: "client:gone" });
    await nothingRemains();
    expect((await accounts.get<Account>("run_p"))?.value.reserved.tokens).toBe(0);
  });
});

it(
  "that does not answer CONNECT holds no tunnel whose sandbox is gone",
  { timeout: patient(5_000) },
  async () => {
    const { proxy: through, upstreamCa } = await behind({ silentOnce: "asked" });
    if (through === null) throw new Error("no proxy");
    const to = { address: NAMES.echo, port: 443, isProxied: true };
    const door = createTcpServer();
    await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
    const accepted = new Promise<Socket>((resolve) => door.once("connection", resolve));
    connect((door.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined);
    const inside = await accepted;
    const dial: Dial = (end, signal) => throughProxy(through, end, upstreamCa, { signal });
    const ended = passThrough(inside, to, { up: 0, down: 0 }, new Quota(), { idleMs: 10_000, dial });
    ended.catch(() => undefined); // awaited below
    await eventually("the tunnel waits for the proxy", () => proxy.waiting === 1);
    inside.destroy();
    await expect(ended).rejects.toMatchObject({ rule: "client:gone" });
    await eventually("no connection remains", () => proxy.waiting === 0, 1_000);
    await new Promise((resolve) => door.close(resolve));
  },
);
