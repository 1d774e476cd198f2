/** Leases of an egress gateway over loopback, without a sandbox: what a connection gets, and when it ends. */
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { digestOf, type EgressOpened } from "@antiphon/contracts";
import { createLogger } from "@antiphon/runtime";
import { MemoryKv } from "@antiphon/runtime/testing/memory-kv";
import { BudgetStore } from "../../../services/egress-gateway/src/models/budget-store.ts";
import { Upstream } from "../../../services/egress-gateway/src/proxy/upstream.ts";
import { Leases } from "../../../services/egress-gateway/src/leases.ts";
import { grantOf, settingsFor } from "../../support/egress-world.ts";
import { NAMES, startUpstreams, type Upstreams } from "../../support/egress-upstreams.ts";
import { eventually } from "../../support/nats.ts";

let upstreams: Upstreams;
let leases: Leases;
const scratch = mkdtempSync(join(tmpdir(), "antiphon-leases-"));
beforeAll(async () => {
  upstreams = await startUpstreams(scratch);
});
beforeEach(() => {
  leases = new Leases({
    settings: settingsFor(upstreams),
    budgets: new BudgetStore(new MemoryKv()),
    store: (bytes) =>
      Promise.resolve({ bucket: "b", name: "log", digest: digestOf(bytes), bytes: bytes.length }),
    node: "eg_test",
    log: createLogger("test", { level: "silent" }),
    now: Date.now,
  });
});
afterEach(() => leases.closeAll());
afterAll(async () => {
  await upstreams.close();
  rmSync(scratch, { recursive: true, force: true });
});

const open = (allowlist: string[] = [NAMES.other]): Promise<EgressOpened> =>
  leases.opened({ run: "run_a", task: "T-001", epoch: 1, jobId: "j", grant: grantOf(allowlist) });

/** A connection that says `first`; a reset is its end like any other. */
function dial({ host, port }: EgressOpened, first: string): Socket {
  const socket = connect(port, host).on("error", () => undefined);
  socket.write(first);
  return socket;
}
const ask = (host: string): string =>
  `GET http://${host}/x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
const answer = (to: EgressOpened, first: string): Promise<string> => text(dial(to, first)).catch(() => "");

describe("a lease", () => {
  it("L3: without the token a connection gets nothing, not even an answer; with it, what was asked for", async () => {
    const [mine, other] = [await open(), await open()];
    const before = upstreams.heard.length;
    for (const line of [
      "",
      `${"0".repeat(64)} data\n`,
      `${other.token} data\n`,
      `${mine.token.slice(1)} data\n`,
    ])
      expect(await answer(mine, line + ask(NAMES.other) + "\n")).toBe("");
    expect(upstreams.heard.length).toBe(before);
    expect(await answer(mine, `${mine.token} data\n${ask(NAMES.other)}`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("T1: what it may reach is what was allowed when it was opened", async () => {
    const allowlist = [NAMES.other as string];
    const lease = await open(allowlist);
    allowlist.push(NAMES.echo);
    expect(await answer(lease, `${lease.token} data\n${ask(NAMES.echo)}`)).toContain("ANT_EGRESS_HOST");
  });

  it("L4, T2: ends with its control connection, and every other connection with it", async () => {
    const lease = await open();
    const control = dial(lease, `${lease.token} control\n`);
    await new Promise((resolve) => control.once("data", resolve));
    const idle = dial(lease, `${lease.token} data\n`);
    const idleEnds = new Promise((resolve) => idle.once("close", resolve));
    await new Promise((resolve) => idle.once("connect", resolve));
    expect(leases.open).toBe(1);
    control.destroy();
    await idleEnds;
    await eventually("the lease is gone", () => leases.open === 0);
    expect(await answer(lease, `${lease.token} data\n${ask(NAMES.other)}`)).toBe("");
  });

  it("T3: its account comes when its listener is closed, and nothing passes after it", async () => {
    const lease = await open();
    await answer(lease, `${lease.token} data\n${ask(NAMES.other)}`);
    const account = await leases.closed(lease.lease);
    expect(account).toMatchObject({ requests: 1, refused: 0 });
    const before = upstreams.heard.length;
    expect(await answer(lease, `${lease.token} data\n${ask(NAMES.other)}`)).toBe("");
    expect(upstreams.heard.length).toBe(before);
    await expect(leases.closed(lease.lease)).rejects.toMatchObject({ code: "ANT_EGRESS_LOST" });
  });
});

describe("the other side", () => {
  const send = async (ca: string[], host: string): Promise<number> => {
    let asked = 0;
    const upstream = new Upstream((_host, _port) => {
      asked += 1;
      return Promise.resolve({ address: "127.0.0.1", port: upstreams.port });
    }, ca);
    const target = { scheme: "https" as const, host, port: 443, path: "/", query: null };
    const { signal } = new AbortController();
    try {
      const reply = await upstream.send({ target, method: "GET", headers: {}, body: null, signal });
      reply.resume();
      expect(asked).toBe(1);
      return reply.statusCode ?? 0;
    } finally {
      upstream.close();
    }
  };

  it("R2: is dialled at the address that was checked; a name that no resolver knows is reached", async () => {
    expect(await send([upstreams.authority], NAMES.other)).toBe(200);
  });

  it("U3: is refused, and hears nothing, when nobody trusted vouches for its name", async () => {
    const before = upstreams.heard.length;
    await expect(send([], NAMES.other)).rejects.toMatchObject({ code: "ANT_EGRESS_UPSTREAM" });
    expect(upstreams.heard.length).toBe(before);
  });
});
