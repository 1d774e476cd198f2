import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  callRpc,
  connectBus,
  listen,
  provision,
  serveRpc,
  serveRpcStream,
  tell,
} from "../../../runtime/src/index.ts";
import type { Bus } from "../../../runtime/src/index.ts";
import { openKv } from "../../../runtime/src/index.ts";
import { ReplyInbox } from "../../../runtime/src/nats/reply-inbox.ts";
import { AntiphonError } from "../../../contracts/src/index.ts";
import type { NatsServer } from "../../support/nats.ts";
import { eventually, startNats } from "../../support/nats.ts";

describe("connecting", () => {
  it("without a server fails soon with ANT_NATS_UNREACHABLE and a remedy", async () => {
    const startedAt = performance.now();
    const attempt = connectBus({ servers: "nats://127.0.0.1:1", name: "test" });
    await expect(attempt).rejects.toMatchObject({
      code: "ANT_NATS_UNREACHABLE",
      remedy: expect.any(String) as string,
    });
    expect(performance.now() - startedAt).toBeLessThan(3000);
  });

  it("runtime/J7: to a server older than 2.15 fails with ANT_NATS_TOO_OLD", async () => {
    const info = {
      server_id: "OLD",
      version: "2.10.7",
      proto: 1,
      headers: true,
      jetstream: true,
      max_payload: 1e6,
    };
    const old = createServer((socket) => {
      socket.on("error", () => socket.destroy());
      socket.write(`INFO ${JSON.stringify(info)}\r\n`);
      socket.on("data", (data) => {
        if (data.includes("PING")) socket.write("PONG\r\n");
      });
    });
    await new Promise<void>((resolve) => old.listen(0, "127.0.0.1", resolve));
    const address = old.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const attempt = connectBus({ servers: `nats://127.0.0.1:${port}`, name: "test" });
    await expect(attempt).rejects.toMatchObject({ code: "ANT_NATS_TOO_OLD" });
    await new Promise((resolve) => old.close(resolve));
  });

  it("runtime/J7: to a server that acknowledges before it fsyncs is refused, unless waived", async () => {
    const lazy = await startNats({ sync: "lazy" });
    await expect(lazy.connect()).rejects.toMatchObject({ code: "ANT_NATS_UNSAFE_DURABILITY" });
    expect((await lazy.connect({ unsafeDurability: true })).durability).toBe("waived");
    await lazy.close();
  });

  it("asks the monitoring endpoint if the server does not answer over NATS, and otherwise refuses", async () => {
    const silent = await startNats({ tellsDurability: false });
    await expect(silent.connect()).rejects.toMatchObject({ code: "ANT_NATS_DURABILITY_UNKNOWN" });
    expect((await silent.connect({ monitorUrl: silent.monitorUrl })).durability).toBe("confirmed");
    const other = await startNats();
    await expect(silent.connect({ monitorUrl: other.monitorUrl })).rejects.toMatchObject({
      code: "ANT_NATS_DURABILITY_UNKNOWN",
    });
    await other.close();
    await silent.close();
  });
});

describe("on a bus", () => {
  let server: NatsServer;
  let bus: Bus;

  beforeAll(async () => {
    server = await startNats();
    bus = await server.connect();
  });

  afterAll(async () => {
    await server.close();
  });

  it("provisions once, even from many processes at the same time, and then finds nothing to do", async () => {
    const others = await Promise.all([server.connect(), server.connect()]);
    await Promise.all([bus, ...others].map((one) => provision(one)));
    const again = await provision(bus);
    expect(again.created).toEqual([]);
    expect(again.updated).toEqual([]);
  });

  it("runtime/J7: updates a bound, but refuses to loosen a guarantee", async () => {
    await provision(bus);
    await bus.jsm.streams.update("ANT_LOG", { max_bytes: 1024 * 1024 });
    await expect(provision(bus)).resolves.toMatchObject({ updated: ["ANT_LOG"] });
    await bus.jsm.streams.update("ANT_DLQ", { deny_delete: false, max_bytes: -1 });
    await expect(provision(bus)).rejects.toMatchObject({ code: "ANT_NATS_TOPOLOGY" });
    await bus.jsm.streams.update("ANT_DLQ", { max_bytes: 256 * 1024 * 1024 });
    await provision(bus);
  });

  it("tells its listeners of every loss and return", async () => {
    const heard: boolean[] = [];
    const off = bus.onConnectivity((up) => heard.push(up));
    await server.kill();
    await eventually("down", () => heard.includes(false));
    await server.restart();
    await eventually("up", () => heard.includes(true));
    expect(heard).toEqual([false, true]);
    off();
  });

  it("delivers a reply to its own waiter, and to nobody once that one was forgotten", async () => {
    const inbox = new ReplyInbox(bus.nc);
    const heard: string[] = [];
    const tokens = ["a", "b", "c"].map((name) => inbox.expect(({ data }) => heard.push(name + data.length)));
    expect(new Set(tokens).size).toBe(3);
    const answer = (token: string | undefined, bytes: number): void =>
      bus.nc.publish(inbox.subjectOf(token ?? ""), new Uint8Array(bytes));
    answer(tokens[1], 1);
    await eventually("the first answer", () => heard.length === 1);
    inbox.forget(tokens[1] ?? "");
    const next = inbox.expect(() => heard.push("next"));
    answer(tokens[1], 2); // late: its waiter is forgotten, and another one was registered since
    answer(tokens[2], 3);
    await eventually("the last answer", () => heard.includes("c3"));
    expect(heard).toEqual(["b1", "c3"]);
    expect(tokens).not.toContain(next);
    inbox.close();
  });

  it("documents are written, read and listed without a consumer", async () => {
    const asked: string[] = [];
    const spy = (await server.connect()).nc;
    const listening = spy.subscribe("$JS.API.CONSUMER.>", {
      callback: (_, { subject }) => void asked.push(subject),
    });
    await spy.flush();
    await provision(bus);
    await spy.flush(); // The spy has heard the requests of provisioning.
    asked.length = 0;
    const kv = openKv(bus, "ANT_EVIDENCE");
    const revision = await kv.put("k3.one", { n: 1 });
    await kv.create("k3.two", {});
    await kv.update("k3.one", { n: 2 }, revision);
    expect((await kv.get("k3.one"))?.value).toEqual({ n: 2 });
    expect((await kv.keys("k3")).sort()).toEqual(["k3.one", "k3.two"]);
    await kv.delete("k3.two");
    const last = "$JS.API.CONSUMER.INFO.ANT_JOURNAL_0.associate";
    await bus.jsm.consumers.info("ANT_JOURNAL_0", "associate"); // the spy hears such a request
    await eventually("it was heard", () => asked.includes(last));
    expect(asked).toEqual([last]);
    listening.unsubscribe();
  });

  it("an rpc answers with a result or a code", async () => {
    const stop = serveRpc(bus, "antiphon.v1.rpc.test.double", "test", async ({ n }: { n: number }) => {
      if (n < 0) throw new AntiphonError("ANT_USAGE", "not negative");
      if (n === 0) throw new TypeError("bug");
      return await Promise.resolve({ doubled: 2 * n });
    });
    const client = await server.connect();
    const ask = (n: number) => callRpc<{ doubled: number }>(client, "antiphon.v1.rpc.test.double", { n });
    expect(await ask(21)).toEqual({ ok: true, doubled: 42 });
    await expect(ask(-1)).rejects.toMatchObject({ code: "ANT_USAGE", detail: "not negative" });
    await expect(ask(0)).rejects.toMatchObject({ code: "ANT_INTERNAL" });
    expect(bus.endpoints.all.find((one) => one.name === "double")).toMatchObject({ requests: 3, errors: 2 });
    await stop();
  });

  it("an rpc without a server is ANT_RPC_TIMEOUT at its deadline; one that starts meanwhile is found", async () => {
    const nobody = callRpc(bus, "antiphon.v1.rpc.test.nobody", {}, { timeoutMs: 300 });
    await expect(nobody).rejects.toMatchObject({ code: "ANT_RPC_TIMEOUT" });
    const soon = callRpc<{ here: boolean }>(bus, "antiphon.v1.rpc.test.soon", {}, { timeoutMs: 5000 });
    const stop = serveRpc(bus, "antiphon.v1.rpc.test.soon", "test", () => Promise.resolve({ here: true }));
    expect(await soon).toMatchObject({ here: true });
    await stop();
  });

  it("finishes the requests it has and takes no new ones while it drains", async () => {
    const serving = await server.connect();
    let release: () => void = () => undefined;
    serveRpc(serving, "antiphon.v1.rpc.test.slow", "test", async () => {
      await new Promise<void>((resolve) => (release = resolve));
      return { finished: true };
    });
    const answer = callRpc(bus, "antiphon.v1.rpc.test.slow", {}, { timeoutMs: 5000 });
    await eventually(
      "the request is there",
      () => serving.endpoints.all.length === 1 && release.length === 1,
    );
    const drained = serving.drain();
    release();
    expect(await answer).toMatchObject({ finished: true });
    await drained;
    await serving.close();
    const late = callRpc(bus, "antiphon.v1.rpc.test.slow", {}, { timeoutMs: 200 });
    await expect(late).rejects.toMatchObject({ code: "ANT_RPC_TIMEOUT" });
  });

  it("streams answers, and carries hints that may have no listener", async () => {
    const stop = serveRpcStream(
      bus,
      "antiphon.v1.rpc.test.count",
      "test",
      async ({ to }: { to: number }, emit) => {
        for (let n = 1; n <= to; n += 1) emit({ n: await Promise.resolve(n) });
      },
    );
    const heard: unknown[] = [];
    const replies = listen<{ n: number }>(bus, "antiphon.v1.rpc.test.inbox", (value) => heard.push(value.n));
    const { encode } = await import("../../../contracts/src/index.ts");
    bus.nc.publish("antiphon.v1.rpc.test.count", encode({ to: 3 }), { reply: "antiphon.v1.rpc.test.inbox" });
    await eventually("three answers", () => heard.length === 3);
    expect(heard).toEqual([1, 2, 3]);
    tell(bus, "antiphon.v1.rpc.test.inbox", { n: 4 });
    await eventually("the hint", () => heard.includes(4));
    replies();
    await stop();
  });
});
