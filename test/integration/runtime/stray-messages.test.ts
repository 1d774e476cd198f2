/** Anyone on the server can send anything to any subject; no such message keeps a process from hearing the next one. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { decode, encode, subjects, type SandboxEvent, type SandboxRequest } from "@antiphon/contracts";
import {
  callRpc,
  createLogger,
  listen,
  sandboxClient,
  serveRpc,
  serveRpcStream,
  tell,
  type Bus,
  silentMeter,
} from "@antiphon/runtime";
import { noHeaders } from "@antiphon/runtime/nats/wire-headers";
import type { Logger } from "../../../runtime/src/process/logger.ts";
import { subscribe } from "../../../runtime/src/nats/subscription.ts";
import {
  SandboxService,
  type ServiceOptions,
} from "../../../services/sandbox-runner/src/jobs/job-service.ts";
import { Slots } from "../../../services/sandbox-runner/src/jobs/slots.ts";
import { eventually, startNats, type NatsServer } from "../../support/nats.ts";

const STRAYS: readonly (readonly [name: string, bytes: Uint8Array])[] = [
  ["bytes that are no MessagePack", Uint8Array.from([0xc1, 0xff])],
  ["nothing", new Uint8Array()],
  ["nil", encode(null)],
  ["a number", encode(7)],
  ["a text", encode("good day")],
];

let server: NatsServer;
/** The connection of the sender of stray messages. */
let stranger: Bus;
/** The connection of the process that receives them. */
let bus: Bus;

beforeAll(async () => {
  server = await startNats();
  stranger = await server.connect();
});

beforeEach(async () => {
  bus = await server.connect();
});

afterAll(async () => {
  await server.close();
});

const outcome = {
  outcome: "completed",
  code: null,
  message: "",
  steps: [],
  changes: null,
  meta: { bootMs: 1, provider: "docker", node: "sr_test", image: "img", containerId: "c1" },
} as const;

let serial = 0;
function request(): SandboxRequest {
  serial += 1;
  return {
    jobId: `stray-${serial}`,
    run: "run_stray",
    task: "T-001",
    epoch: 1,
    purpose: "attempt",
    image: null,
    budgetMs: 10_000,
    workspace: { tree: null, files: [], overlay: null, deletions: [] },
    steps: [{ id: "one", argv: ["true"], env: {}, timeoutMs: 1000, continueOnFailure: false }],
    collect: false,
  };
}

/** The answer to these bytes, from any service. */
async function answerTo(subject: string, bytes: Uint8Array): Promise<unknown> {
  return decode((await stranger.nc.request(subject, bytes, { timeout: 3000 })).data);
}

/** Serves a subject by hand: first stray messages, then those of an honest service. */
function answerWithStrays(subject: string, events: readonly object[]): () => void {
  const subscription = stranger.nc.subscribe(subject, {
    callback: (_, message) => {
      for (const [, bytes] of STRAYS) message.respond(bytes);
      for (const event of events) message.respond(encode(event));
    },
  });
  return () => subscription.unsubscribe();
}

/** A real runner's service without an engine; the test decides when its image is ready. */
function serveSandboxes(): { asked: () => number; imageIsThere: () => void } {
  let asked = 0;
  let imageIsThere = (): void => undefined;
  const there = new Promise<void>((resolve) => (imageIsThere = resolve));
  const ports = {
    node: "sr_test",
    provider: "docker",
    defaults: { memoryBytes: 1, workspaceBytes: 1e6, pids: 1, cpus: 1 },
    image: async () => {
      asked += 1;
      await there;
      return { id: "img" };
    },
  } as unknown as ServiceOptions["ports"];
  const log = createLogger("test", { level: "silent" });
  const signal = new AbortController().signal;
  new SandboxService({
    bus,
    log,
    slots: new Slots(4),
    signal,
    ports,
    sign: () => "",
    meter: silentMeter,
  }).serve();
  return { asked: () => asked, imageIsThere };
}

describe("a request that cannot be read", () => {
  it.each(STRAYS)(
    "runtime/J5: %s is answered with a code, and so is the request after it",
    async (_name, bytes) => {
      const streamed = "antiphon.v1.rpc.test.stray.streamed";
      const single = "antiphon.v1.rpc.test.stray.single";
      // Neither handler is async: they throw synchronously.
      serveRpcStream<{ n: number }, object>(bus, streamed, "test", ({ n }, emit) => {
        emit({ twice: 2 * n });
        return Promise.resolve();
      });
      serveRpc<{ n: number }, object>(bus, single, "test", ({ n }) => Promise.resolve({ twice: 2 * n }));
      await bus.nc.flush();
      for (const subject of [streamed, single]) {
        expect(await answerTo(subject, bytes)).toMatchObject({ ok: false, code: "ANT_CONTRACT_INVALID" });
        expect(await answerTo(subject, encode({ n: 4 }))).toMatchObject({ twice: 8 });
      }
      await bus.close();
    },
  );

  it("runtime/J5: a sandbox-runner answers each on sandbox.run, and takes the next job", async () => {
    const { asked, imageIsThere } = serveSandboxes();
    await bus.nc.flush();
    for (const [, bytes] of STRAYS)
      expect(await answerTo(subjects.sandboxRun, bytes)).toMatchObject({
        ok: false,
        code: "ANT_CONTRACT_INVALID",
      });
    expect(await answerTo(subjects.sandboxRun, encode({}))).toMatchObject({ code: "ANT_SANDBOX_REFUSED" });
    const stop = new AbortController();
    const running = sandboxClient(stranger, { requester: "test" }).run(request(), { signal: stop.signal });
    await eventually("the job is taken", () => asked() === 1);
    await bus.nc.flush(); // The server now knows that the runner subscribed to the job's subject.
    stop.abort();
    await answerTo(subjects.sandboxRun, encode({})); // by now it has heard the cancel, which came before
    imageIsThere();
    expect((await running).outcome).toBe("canceled");
    await bus.close();
  });
});

describe("a malformed hint", () => {
  it("on a job's subject is ignored, and the cancel after it is heard", async () => {
    const { asked, imageIsThere } = serveSandboxes();
    await bus.nc.flush();
    const job = request();
    const events: SandboxEvent[] = [];
    const inbox = stranger.nc.subscribe("test.stray.events", {
      callback: (_, message) => void events.push(decode(message.data) as SandboxEvent),
    });
    stranger.nc.publish(subjects.sandboxRun, encode(job), { reply: "test.stray.events" });
    await eventually("the job is taken", () => asked() === 1);
    await bus.nc.flush(); // The server now knows that the runner subscribed to the job's subject.
    for (const [, bytes] of STRAYS) stranger.nc.publish(subjects.sandboxJob(job.jobId), bytes);
    tell(stranger, subjects.sandboxJob(job.jobId), { kind: "cancel" });
    // The same connection answers, so it has heard the messages before.
    expect(await answerTo(subjects.sandboxRun, encode({}))).toMatchObject({ code: "ANT_SANDBOX_REFUSED" });
    imageIsThere();
    await eventually("its end", () => events.some(({ kind }) => kind === "done"));
    expect(events.find(({ kind }) => kind === "done")).toMatchObject({
      result: { outcome: "canceled", message: "canceled by the requester" },
    });
    inbox.unsubscribe();
    await bus.close();
  });

  it("is dropped, and logged once", async () => {
    const told: string[] = [];
    const note = (level: string) => (_: object, what: string) => void told.push(`${level}: ${what}`);
    const log = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
    const theirs = await server.connect({ log: log as unknown as Logger });
    const heard: number[] = [];
    listen<{ n: number }>(theirs, "test.stray.hint", ({ n }) => heard.push(n));
    await theirs.nc.flush();
    for (const [, bytes] of STRAYS) stranger.nc.publish("test.stray.hint", bytes);
    tell(stranger, "test.stray.hint", { n: 1 });
    await eventually("the hint", () => heard.length === 1);
    expect(told).toEqual(["debug: malformed hint dropped"]);
    await theirs.close();
  });

  it("that makes its listener throw is dropped, and the next one is heard", async () => {
    const told: unknown[] = [];
    const log = { warn: (said: object) => void told.push(said) } as unknown as Logger;
    const heard: string[] = [];
    const hear = (text: string): void => {
      if (text.startsWith("bad")) throw new TypeError("not so");
      heard.push(text);
    };
    subscribe(bus.nc, "test.stray.raw", (message) => hear(message.string()), { log });
    await bus.nc.flush();
    for (const text of ["bad one", "bad two", "good"]) stranger.nc.publish("test.stray.raw", text);
    await eventually("the good one", () => heard.length === 1);
    expect(told).toMatchObject([{ subject: "test.stray.raw", err: { message: "not so" } }]);
    await bus.close();
  });
});

describe("a malformed answer", () => {
  const { signal } = new AbortController();

  it("in the inbox of a job is a sign of life, and the job's outcome is heard", async () => {
    const stop = answerWithStrays(subjects.sandboxRun, [
      { kind: "accepted", node: "sr_test", image: "img" },
      { kind: "done", result: outcome },
    ]);
    await stranger.nc.flush();
    const heard: string[] = [];
    const onEvent = ({ kind }: SandboxEvent): void => {
      heard.push(kind);
      throw new TypeError("a listener with a fault");
    };
    const client = sandboxClient(bus, { requester: "test" });
    expect(await client.run(request(), { signal, onEvent })).toEqual(outcome);
    expect(heard).toEqual(["accepted", "done"]);
    stop();
    await bus.close();
  });

  it("to a request is an error with a code; to a publish it is no acknowledgement, so the message is sent again", async () => {
    const asked = stranger.nc.subscribe("test.stray.asked", {
      callback: (_, message) => void message.respond(encode(null)),
    });
    let tries = 0;
    const stored = stranger.nc.subscribe("test.stray.stored", {
      callback: (_, message) => {
        tries += 1;
        message.respond(tries === 1 ? "null" : JSON.stringify({ stream: "S", seq: 5 }));
      },
    });
    await stranger.nc.flush();
    await expect(callRpc(bus, "test.stray.asked", {}, { timeoutMs: 3000 })).rejects.toMatchObject({
      code: "ANT_INTERNAL",
    });
    const out = {
      stream: "S",
      subject: "test.stray.stored",
      payload: encode({}),
      headers: noHeaders,
      group: false,
    };
    expect(await bus.publish(out)).toEqual({ kind: "ok", seq: 5, count: 1 });
    expect(tries).toBe(2);
    asked.unsubscribe();
    stored.unsubscribe();
    await bus.close();
  });
});
