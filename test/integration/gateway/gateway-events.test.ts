import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { digestOfJson, BUCKETS, keys, limits, replayKey, subjects } from "@antiphon/contracts";
import type { EvidenceManifest, NewRecord, StoredRecord } from "@antiphon/contracts";
import { createLogger, listen, openBlobs, openKv, tell } from "@antiphon/runtime";
import {
  closedRecord,
  dispatchRecord,
  reportedBody,
  resultRecord,
  routedRecord,
} from "@antiphon/contracts/testing/records";
import type { FastifyInstance } from "fastify";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { exportEvidence } from "../../../cli/src/evidence/evidence-export.ts";
import { GatewayClient } from "../../../cli/src/gateway/gateway-client.ts";
import type { RunEvent } from "../../../cli/src/gateway/run-stream.ts";
import { SseParser } from "../../../cli/src/gateway/sse-parser.ts";
import type { ServerEvent } from "../../../cli/src/gateway/sse-parser.ts";
import { EventStreams } from "../../../services/gateway/src/http/event-stream.ts";
import { openHttpServer } from "../../../services/gateway/src/http/http-server.ts";
import { natsBackend } from "../../../services/gateway/src/backend/nats-backend.ts";
import { SessionTokens } from "../../../services/gateway/src/http/session-tokens.ts";
import { eventually } from "../../support/nats.ts";
import { cleanUpRepos, makeRepo, tempDir } from "../../support/repo.ts";
import { errorOf, intentFor, openWorld } from "./gateway-world.ts";
import type { World } from "./gateway-world.ts";

let world: World;
let repo: string;
beforeAll(async () => {
  world = await openWorld();
  repo = makeRepo().path;
});
afterAll(async () => {
  await world.close();
  cleanUpRepos();
});

async function newRun(): Promise<string> {
  const { body } = await world.call("POST", "/intents", { body: intentFor(repo) });
  const { body: run } = await world.call("POST", `/intents/${String(body.intentId)}/run`);
  return String(run.runId);
}

async function write(record: NewRecord): Promise<void> {
  const outcome = await world.journal.append(record);
  expect(outcome.kind).toBe("appended");
}

const routed = (runId: string): Promise<void> => write(routedRecord(runId));
const closed = (runId: string): Promise<void> => write(closedRecord(runId));
const asks = (runId: string): Promise<void> => {
  const key = keys.evidence(runId, "T-001", 1);
  const body = reportedBody("T-001", { status: "needs_input", key, questions: ["Which?"] });
  return write(resultRecord(runId, "T-001", 1, body));
};

class Stream {
  readonly events: ServerEvent[] = [];
  ended = false;
  readonly #response: IncomingMessage;

  constructor(response: IncomingMessage) {
    this.#response = response;
    const parser = new SseParser();
    response.setEncoding("utf8").on("data", (text: string) => this.events.push(...parser.push(text)));
    response.once("close", () => (this.ended = true));
  }
  get status(): number {
    return this.#response.statusCode ?? 0;
  }
  get names(): string[] {
    return this.events.map((event) => event.event);
  }
  hangUp(): void {
    this.#response.destroy();
  }
}

function open(
  path: string,
  headers: Record<string, string> = {},
  at = world.url,
  localAddress = "127.0.0.1",
): Promise<Stream> {
  return new Promise((resolve, reject) => {
    get(at + path, { localAddress, headers: { accept: "text/event-stream", ...headers } }, (response) =>
      resolve(new Stream(response)),
    ).once("error", reject);
  });
}

describe("the event stream of a run", () => {
  it("replays the journal, continues live, and ends after `closed`", async () => {
    const runId = await newRun();
    const stream = await open(`/runs/${runId}/events`);
    await eventually("the first record", () => stream.events.length === 1);
    await routed(runId);
    await eventually("the second record", () => stream.events.length === 2);
    await closed(runId);
    await eventually("the end", () => stream.ended);
    expect(stream.names).toEqual(["intent", "routed", "closed"]);
    const records = await world.journal.read(runId);
    expect(stream.events.map((event) => event.id)).toEqual(records.map((record) => String(record.seq)));
    expect(JSON.parse(stream.events[0]?.data ?? "")).toMatchObject({
      runId,
      type: "intent",
      digest: records[0]?.digest,
      at: records[0]?.at.toISOString(),
    });
  });

  it("resumes after Last-Event-ID", async () => {
    const runId = await newRun();
    await routed(runId);
    await closed(runId);
    const [, second] = await world.journal.read(runId);
    const stream = await open(`/runs/${runId}/events`, { "last-event-id": String(second?.seq) });
    await eventually("the end", () => stream.ended);
    expect(stream.names).toEqual(["closed"]);
  });

  it("carries live output only on request", async () => {
    const runId = await newRun();
    const [loud, quiet] = [await open(`/runs/${runId}/events?logs=1`), await open(`/runs/${runId}/events`)];
    await eventually("both follow", () => loud.events.length === 1 && quiet.events.length === 1);
    await eventually("live output", () => {
      tell(world.bus, subjects.log(runId, "T-001", "stdout"), { text: "hello\n", epoch: 1 });
      return loud.names.includes("log");
    });
    const log = loud.events.find((event) => event.event === "log");
    expect([log?.id, JSON.parse(log?.data ?? "")]).toEqual([
      null,
      { taskId: "T-001", stream: "stdout", epoch: 1, text: "hello\n" },
    ]);
    await closed(runId);
    await eventually("both end", () => loud.ended && quiet.ended);
    expect(quiet.names).toEqual(["intent", "closed"]);
  });

  it("carries progress messages without the output of commands on request", async () => {
    const runId = await newRun();
    const stream = await open(`/runs/${runId}/events?logs=progress`);
    await eventually("it follows", () => stream.events.length === 1);
    await eventually("live output", () => {
      tell(world.bus, subjects.log(runId, "T-001", "stdout"), { text: "hello\n", epoch: 1 });
      tell(world.bus, subjects.log(runId, null, "progress"), { text: "waits", epoch: 0 });
      return stream.names.includes("log");
    });
    await closed(runId);
    await eventually("the end", () => stream.ended);
    const logs = stream.events.filter((event) => event.event === "log");
    const told = logs.map(({ data }) => JSON.parse(data) as unknown);
    expect(new Set(told.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ taskId: null, stream: "progress", epoch: 0, text: "waits" })]),
    );
  });

  it("is a list if JSON is requested, and a 404 if there is no such run", async () => {
    const runId = await newRun();
    const { body } = await world.call("GET", `/runs/${runId}/events`);
    expect((body.records as { type: string }[]).map((record) => record.type)).toEqual(["intent"]);
    const none = await open("/runs/run_none/events");
    expect(none.status).toBe(404);
    none.hangUp();
  });

  it("gateway/G7: is refused to an address that has used up its places, not to others, and places are free again when clients leave", async () => {
    const runId = await newRun();
    const streams = await Promise.all(
      Array.from({ length: limits.sseClientsPerAddress }, () => open(`/runs/${runId}/events`)),
    );
    await eventually("all follow", async () => (await followers(runId)) === limits.sseClientsPerAddress);
    const refused = await world.call("GET", `/runs/${runId}/events`, {
      headers: { accept: "text/event-stream" },
    });
    expect([refused.status, errorOf(refused).code]).toEqual([429, "ANT_GATEWAY_BUSY"]);
    const elsewhere = await open(`/runs/${runId}/events`, {}, world.url, "127.0.0.2");
    expect(elsewhere.status).toBe(200);
    elsewhere.hangUp();
    for (const stream of streams) stream.hangUp();
    await eventually("a place is free", async () => {
      const stream = await open(`/runs/${runId}/events`);
      stream.hangUp();
      return stream.status === 200;
    });
    await eventually("no subscription is left", async () => (await followers(runId)) === 0);
  });

  it("takes no place for a HEAD request, which is answered at once", async () => {
    const runId = await newRun();
    const head = await world.call("HEAD", `/runs/${runId}/events`, {
      headers: { accept: "text/event-stream" },
    });
    expect(head.status).toBe(405);
    expect((await world.call("HEAD", `/runs/${runId}`)).status).toBe(200);
    expect(await followers(runId)).toBe(0);
  });

  it("is followed by the CLI's client across an outage of NATS", async () => {
    const runId = await newRun();
    const seen: RunEvent[] = [];
    const watching = (async () => {
      const client = new GatewayClient(world.url, null);
      for await (const event of client.events(runId, {
        afterSeq: 0,
        logs: "none",
        signal: new AbortController().signal,
      }))
        seen.push(event);
    })();
    await eventually("the first record", () => seen.length === 1);
    await world.nats.kill();
    await eventually("the outage", async () => (await world.call("GET", "/readyz")).status === 503);
    await world.nats.restart();
    await eventually(
      "the end of the outage",
      async () => (await world.call("GET", "/readyz")).status === 200 && world.bus.connected,
    );
    await routed(runId);
    await closed(runId);
    await watching;
    const records = seen.flatMap((event) => (event.kind === "record" ? [event.record.type] : []));
    expect(records).toEqual(["intent", "routed", "closed"]);
  });
});

/** All subscriptions to the records of one run. */
async function followers(runId: string): Promise<number> {
  const answer = await fetch(`${world.nats.monitorUrl}/subsz?subs=1&limit=4096&acc=ANT`);
  const { subscriptions_list: all = [] } = (await answer.json()) as {
    subscriptions_list?: { subject: string }[];
  };
  return all.filter(({ subject }) => subject.includes(runId)).length;
}

describe("a client that does not read", () => {
  const SLOW_MS = 400;
  const log = createLogger("test", { level: "silent" });
  let server: FastifyInstance;
  let streams: EventStreams;
  let url: string;
  /** The data buffered in this process for each client. */
  const waiting: ServerResponse[] = [];

  beforeEach(async () => {
    waiting.length = 0;
    streams = new EventStreams(natsBackend(world.bus, log, { maxOpenRuns: 10 }), { slowClientMs: SLOW_MS });
    const policy = {
      token: null,
      allowedHosts: [],
      sessions: new SessionTokens(null),
      connected: () => true,
    };
    server = openHttpServer(policy, log);
    server.get<{ Params: { id: string } }>("/runs/:id/events", async (request, reply) => {
      waiting.push(reply.raw);
      await streams.serve(request, reply, { runId: request.params.id, logs: "all", from: 1 });
      return reply;
    });
    server.get("/never", (_request, reply) => void reply.hijack());
    url = await server.listen({ host: "127.0.0.1", port: 0 });
  });
  afterEach(async () => {
    streams.close();
    await server.close();
  });

  /** Sends the request and reads nothing of the answer. */
  function deaf(runId: string): Socket {
    const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => undefined);
    socket.pause().write(`GET /runs/${runId}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    return socket;
  }
  const connections = (): Promise<number> =>
    new Promise((resolve) => server.server.getConnections((_, count) => resolve(count)));
  /** Publishes until the buffers of a client that does not read are full. */
  async function shout(runId: string, isEnough: () => boolean): Promise<void> {
    const text = "x".repeat(32 * 1024);
    await eventually("its buffers are full", async () => {
      for (let i = 0; i < 16; i += 1)
        tell(world.bus, subjects.log(runId, "T-001", "stdout"), { text, epoch: 1 });
      await world.bus.nc.flush();
      return isEnough();
    });
  }

  it("gateway/G7: is cut off even if no record arrives; live output never accumulates for it", async () => {
    const runId = await newRun();
    const socket = deaf(runId);
    await eventually("it follows", () => streams.count === 1 && waiting.length === 1);
    let most = 0;
    await shout(runId, () => {
      most = Math.max(most, waiting[0]?.writableLength ?? 0);
      return streams.count === 0;
    });
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(512 * 1024);
    await eventually("nothing is held for it", async () => (await connections()) === 0);
    await eventually("no subscription is left", async () => (await followers(runId)) === 0);
    socket.destroy();
  });

  it("gateway/G7: gets the missed records by resuming, while a client that reads misses nothing", async () => {
    const runId = await newRun();
    const socket = deaf(runId);
    await eventually("it follows", () => streams.count === 1);
    const good = await open(`/runs/${runId}/events`);
    await shout(runId, () => streams.count === 0);
    await routed(runId);
    await closed(runId);
    await eventually("the end", () => good.ended);
    expect(good.names).toEqual(["intent", "routed", "closed"]);
    // The client keeps everything it received before it was cut off.
    const [had = ""] = /id: \d+\nevent: intent/.exec(await text(socket.resume()).catch(() => "")) ?? [];
    const lastSeen = /\d+/.exec(had)?.[0] ?? "0";
    const records = await world.journal.read(runId);
    expect(lastSeen).toBe(String(records[0]?.seq));
    const again = await open(`/runs/${runId}/events`, { "last-event-id": lastSeen });
    await eventually("the end again", () => again.ended);
    expect(again.names).toEqual(["routed", "closed"]);
  });

  it("is cut off even if its run has ended meanwhile", async () => {
    const runId = await newRun();
    const socket = deaf(runId);
    await eventually("it follows", () => streams.count === 1 && waiting.length === 1);
    await shout(runId, () => streams.count === 0 || (waiting[0]?.writableLength ?? 0) > 128 * 1024);
    await closed(runId);
    await eventually("its stream is over", () => streams.count === 0);
    await eventually("its connection is cut", async () => (await connections()) === 0, 4_000); // sooner than keep-alive would
    socket.destroy();
  });

  it("leaves nothing behind if it disconnects while a record is read for it", async () => {
    const runId = await newRun();
    const [record] = await world.journal.read(runId);
    async function* late(_runId: string, _from: number, signal: AbortSignal): AsyncGenerator<StoredRecord> {
      await once(signal, "abort");
      if (record !== undefined) yield record;
    }
    streams = new EventStreams({ ...natsBackend(world.bus, log, { maxOpenRuns: 10 }), tail: late });
    const stream = await open(`/runs/${runId}/events`, {}, url);
    expect(streams.count).toBe(1);
    stream.hangUp();
    await eventually("its place is free", () => streams.count === 0);
  });

  /** Sends a request that is never answered, and pipelines a stream behind it. */
  function behind(runId: string): Socket {
    const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => undefined);
    const ask = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
    socket.write(ask("/never") + ask(`/runs/${runId}/events`));
    return socket;
  }

  it("gateway/G7: leaves nothing behind if its connection ends before its turn", async () => {
    const runId = await newRun();
    const sockets = Array.from({ length: 12 }, () => behind(runId));
    await eventually("they follow", async () => streams.count === 12 && (await followers(runId)) >= 12);
    for (const socket of sockets) socket.destroy();
    await eventually("their places are free", () => streams.count === 0);
    await eventually("no subscription is left", async () => (await followers(runId)) === 0);
    expect(await connections()).toBe(0);
  });

  it("is cut off if data written to it has to wait for its turn", async () => {
    const runId = await newRun();
    const socket = behind(runId);
    await eventually("it follows", () => streams.count === 1 && waiting.length === 1);
    await shout(runId, () => streams.count === 0);
    await eventually("its connection is cut", async () => (await connections()) === 0);
    await eventually("no subscription is left", async () => (await followers(runId)) === 0);
    socket.destroy();
  });

  it("leaves no listeners on a reused connection, even after many streams", async () => {
    const runId = await newRun();
    await closed(runId);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const follow = async (): Promise<void> => {
      const [answer] = (await once(get(`${url}/runs/${runId}/events`, { agent }), "response")) as [
        IncomingMessage,
      ];
      expect(await text(answer)).toContain("event: closed");
    };
    const listeners = (): number[] =>
      ["close", "drain", "error"].map((name) => waiting[0]?.req.socket.listenerCount(name) ?? -1);
    await follow();
    const before = listeners();
    for (let i = 0; i < 12; i += 1) await follow();
    expect(new Set(waiting.map(({ req }) => req.socket)).size).toBe(1);
    expect(listeners()).toEqual(before);
    agent.destroy();
  });
});

describe("an event that people send to a run", () => {
  it("cancels it: one record and a hint, even if it is sent twice", async () => {
    const runId = await newRun();
    const hints: unknown[] = [];
    const stop = listen(world.bus, subjects.control(runId), (hint) => hints.push(hint));
    await world.bus.nc.flush();
    const first = await world.call("POST", `/runs/${runId}/events`, {
      body: { event: "cancel", reason: "wrong branch" },
    });
    const again = await world.call("POST", `/runs/${runId}/events`, { body: { event: "cancel" } });
    expect([first.status, again.status]).toEqual([202, 202]);
    await eventually("the hint", () => hints.length > 0);
    stop();
    const cancels = (await world.journal.read(runId)).filter((record) => record.type === "cancel");
    expect(cancels.map((record) => record.body)).toEqual([{ by: "local", reason: "wrong branch" }]);
  });

  it("answers the waiting task once", async () => {
    const runId = await newRun();
    await routed(runId);
    await write(dispatchRecord(runId, "T-001", 1));
    const early = await world.call("POST", `/runs/${runId}/events`, {
      body: { event: "approval", choice: "approve" },
    });
    expect([early.status, errorOf(early).code]).toEqual([409, "ANT_RUN_NOT_WAITING"]);
    await asks(runId);
    const answer = await world.call("POST", `/runs/${runId}/events`, {
      body: { event: "approval", choice: "approve" },
    });
    expect([answer.status, answer.body]).toEqual([
      202,
      { runId, event: "approval", accepted: true, taskId: "T-001", epoch: 1 },
    ]);
    const input = await world.journal.find("input", runId, "T-001", 1);
    expect(input?.body).toEqual({
      ...{ event: "approval", choice: "approve", answers: [], by: "local" },
      instructs: true,
    });
    const late = await world.call("POST", `/runs/${runId}/events`, {
      body: { event: "answer", answers: ["x"] },
    });
    expect(late.status).toBe(409);
  });

  it("is refused once the run is over", async () => {
    const runId = await newRun();
    await closed(runId);
    const answer = await world.call("POST", `/runs/${runId}/events`, { body: { event: "cancel" } });
    expect([answer.status, errorOf(answer).code]).toEqual([409, "ANT_RUN_TERMINAL"]);
  });
});

describe("evidence", () => {
  async function proven(): Promise<{ runId: string; diff: Buffer }> {
    const runId = await newRun();
    const diff = Buffer.from("diff --git a/x b/x\n\u0000binary\n");
    const blob = await openBlobs(world.bus, BUCKETS.evidenceFiles).put(null, diff);
    const manifest: EvidenceManifest = {
      schema_version: 1,
      run_id: runId,
      task_id: "T-001",
      epoch: 1,
      author: "associate",
      author_id: "as_1",
      decision: "propose",
      summary: "s",
      base_commit: null,
      files_changed: ["x"],
      checks: [],
      files: [{ path: "diff.patch", blob }],
    };
    const key = keys.evidence(runId, "T-001", 1);
    await openKv(world.bus, BUCKETS.evidence).put(key, manifest);
    await routed(runId);
    const body = reportedBody("T-001", { status: "ok", key, patch: blob });
    if (body.kind !== "reported") throw new Error("a reported body of another kind");
    body.evidence = { key, digest: digestOfJson(manifest) };
    await write(resultRecord(runId, "T-001", 1, body));
    return { runId, diff };
  }

  it("is listed, shown and read byte for byte, as text that no browser executes", async () => {
    const { runId, diff } = await proven();
    const list = await world.call("GET", `/runs/${runId}/evidence`);
    expect((list.body.bundles as unknown[]).length).toBe(1);
    const bundle = await world.call("GET", `/runs/${runId}/evidence/t-001/1`);
    expect(bundle.body).toMatchObject({
      taskId: "T-001",
      kind: "attempt",
      manifest: { decision: "propose" },
    });
    const file = await world.call("GET", `/runs/${runId}/evidence/T-001/1/files/diff.patch`);
    expect([file.text, file.headers["content-type"], file.headers["x-content-type-options"]]).toEqual([
      diff.toString(),
      "text/plain; charset=utf-8",
      "nosniff",
    ]);
    expect(file.headers["content-security-policy"]).toContain("sandbox");
  });

  it.each(["files/nope", "files/..%2f..%2fetc%2fpasswd", "files/", "../2"])(
    "has nothing at %s",
    async (path) => {
      const { runId } = await proven();
      const answer = await world.call("GET", `/runs/${runId}/evidence/T-001/1/${path}`);
      expect(answer.status).toBe(404);
    },
  );

  it("is exported as the files of seed 001", async () => {
    const { runId, diff } = await proven();
    const out = tempDir("antiphon-export-");
    const { files } = await exportEvidence(new GatewayClient(world.url, null), runId, out);
    expect(files).toContain(`evidence/T-001/run-${runId}.1/manifest.json`);
    expect(readFileSync(`${out}/evidence/T-001/run-${runId}.1/diff.patch`)).toEqual(diff);
  });
});

describe("recordings", () => {
  const input = { intent: { goal: "g", task_id: "T-001" }, schemaVersion: 0, seed: "s" };
  const output = { plan: {}, patch: { files: [] }, tests: [], transcript: [] };

  it("are kept under their replay key, where a replay looks for them", async () => {
    const answer = await world.call("POST", "/recordings", { body: { input, output } });
    expect([answer.status, answer.body.replayKey]).toEqual([201, replayKey(input)]);
    const stored = await openBlobs(world.bus, BUCKETS.recordings).get(keys.recording(replayKey(input)));
    expect(JSON.parse(stored.toString())).toEqual({ input, output });
    expect((await world.call("POST", "/recordings", { body: { output, input } })).status).toBe(201);
  });

  it("are refused with the path if they do not have OpenCode's format", async () => {
    const bad = await world.call("POST", "/recordings", { body: { input: { ...input, seed: 1 }, output } });
    expect([bad.status, errorOf(bad).path]).toEqual([400, "/input/seed"]);
    const other = await world.call("POST", "/recordings", {
      body: { input, output: { ...output, tests: ["x"] } },
    });
    expect([other.status, errorOf(other).code]).toEqual([409, "ANT_BLOB_CONFLICT"]);
  });
});
