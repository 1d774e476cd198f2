/** Leases of an egress gateway over loopback, without a sandbox. */
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { digestOf, type EgressOpened } from "@antiphon/contracts";
import { createLogger, silentMeter } from "@antiphon/runtime";
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
    settings: () => settingsFor(upstreams),
    budgets: new BudgetStore(new MemoryKv()),
    read: () => Promise.reject(new Error("nothing is replayed")),
    store: (bytes) =>
      Promise.resolve({ bucket: "b", name: "log", digest: digestOf(bytes), bytes: bytes.length }),
    node: "eg_test",
    meter: silentMeter,
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

/** A connection that sends `first`; a reset counts as its end. */
function dial({ host, port }: EgressOpened, first: string): Socket {
  const socket = connect(port, host).on("error", () => undefined);
  socket.write(first);
  return socket;
}
const ask = (host: string): string =>
  `GET http://${host}/x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
const answer = (to: EgressOpened, first: string): Promise<string> => text(dial(to, first)).catch(() => "");

describe("a lease", () => {
  it("closes a connection without the token, without an answer, and serves one with it", async () => {
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

  it("keeps the allowlist it was opened with", async () => {
    const allowlist = [NAMES.other as string];
    const lease = await open(allowlist);
    allowlist.push(NAMES.echo);
    expect(await answer(lease, `${lease.token} data\n${ask(NAMES.echo)}`)).toContain("ANT_EGRESS_HOST");
  });

  it("ends with its control connection, and ends its other connections too", async () => {
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

  it("reports its traffic after its listener has closed, so that nothing passes after the report", async () => {
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

describe("an upstream", () => {
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

  it("egress-gateway/E3: is dialled at the checked address, without a second lookup", async () => {
    expect(await send([upstreams.authority], NAMES.other)).toBe(200);
  });

  it("gets no request when no trusted certificate proves its name", async () => {
    const before = upstreams.heard.length;
    await expect(send([], NAMES.other)).rejects.toMatchObject({ code: "ANT_EGRESS_UPSTREAM" });
    expect(upstreams.heard.length).toBe(before);
  });
});
