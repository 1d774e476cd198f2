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
import { CallLists } from "../../../services/egress-gateway/src/models/call-list.ts";
import { Upstream } from "../../../services/egress-gateway/src/proxy/upstream.ts";
import { Leases } from "../../../services/egress-gateway/src/leases/leases.ts";
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

describe("an attempt after a lost one", () => {
  const BUDGET = { tokens: 100_000, usd_micro: 1_000_000 };
  const said = (...texts: string[]) => texts.map((content) => ({ role: "user", content }));

  /** A deployment, and its gateway's leases. Each attempt has a lease; one that is lost is not closed. */
  function world() {
    const blobs = new Map<string, Buffer>();
    const kv = new MemoryKv();
    const failed = (error: unknown): void => {
      throw error;
    };
    const lists = new CallLists(kv, failed);
    leases = new Leases({
      settings: () => settingsFor(upstreams),
      budgets: new BudgetStore(new MemoryKv()),
      lists,
      read: ({ name }) => Promise.resolve(blobs.get(name) ?? Buffer.alloc(0)),
      store: (bytes) => {
        const digest = digestOf(bytes);
        blobs.set(digest, bytes);
        return Promise.resolve({ bucket: "b", name: digest, digest, bytes: bytes.length });
      },
      node: "eg_test",
      meter: silentMeter,
      log: createLogger("test", { level: "silent" }),
      now: Date.now,
    });
    const begin = (epoch: number): Promise<EgressOpened> => {
      const grant = { ...grantOf([], BUDGET), ...(epoch > 1 ? { resumes: epoch - 1 } : {}) };
      return leases.opened({ run: "run_a", task: "T-001", epoch, jobId: "j", grant });
    };
    const listed = (epoch: number) => lists.of({ run: "run_a", task: "T-001", epoch });
    return { begin, listed };
  }

  /** Whether the model was asked. */
  async function asksModel(lease: EgressOpened, ...texts: string[]): Promise<boolean> {
    const before = upstreams.heard.length;
    const body = JSON.stringify({ model: "m-1", messages: said(...texts) });
    const head = `POST http://${NAMES.openai}/v1/chat/completions HTTP/1.1\r\nHost: ${NAMES.openai}\r\n`;
    const fields = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
    expect(await answer(lease, `${lease.token} data\n${head}${fields}${body}`)).toMatch(/^HTTP\/1\.1 200 /);
    return upstreams.heard.length > before;
  }

  it("is answered by the model from the first request on that takes a message into account, also where the record goes to its end", async () => {
    const { begin, listed } = world();
    const lost = await begin(1);
    for (const texts of [["do it"], ["do it", "a tool's output"], ["do it", "a tool's output", "finish"]])
      expect(await asksModel(lost, ...texts)).toBe(true);
    await eventually("the calls are listed", async () => (await listed(1)).calls.length === 3);
    const next = await begin(2);
    expect(await asksModel(next, "do it")).toBe(false);
    expect(await asksModel(next, "do it, and mind what a person says", "a tool's output")).toBe(true);
    expect(await asksModel(next, "do it", "a tool's output", "finish")).toBe(true);
    const { replay, model_calls, recordings } = await leases.closed(next.lease);
    expect([replay?.served, model_calls, recordings.length]).toEqual([1, 2, 3]);
  });

  it("hands the record on if it is lost after a call of its own, and not if it is lost before one", async () => {
    const { begin, listed } = world();
    expect(await asksModel(await begin(1), "one")).toBe(true);
    await eventually("the call is listed", async () => (await listed(1)).calls.length === 1);
    const second = await begin(2);
    expect(await asksModel(second, "one")).toBe(false);
    expect(await asksModel(second, "two")).toBe(true);
    await eventually("both calls are listed", async () => (await listed(2)).calls.length === 2);
    const third = await begin(3);
    expect(await asksModel(third, "one")).toBe(false);
    expect(await asksModel(third, "two")).toBe(false);
    await eventually("what it goes on from is listed", async () => (await listed(3)).calls.length === 2);
    const fourth = await begin(4);
    expect(await asksModel(fourth, "one")).toBe(true);
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
