/**
 * Every way in which a model server fails, in each API, streamed and whole: what the program in the sandbox sees, what the run
 * is charged, and that the account, the log, the report and the recording say the same. Real listeners, NATS and model server.
 */
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  BUCKETS,
  validate,
  type EgressGrant,
  type EgressOpened,
  type EgressReport,
  type ModelRecording,
} from "@antiphon/contracts";
import {
  createLogger,
  openBlobs,
  openKv,
  provision,
  silentMeter,
  type Blobs,
  type Kv,
} from "@antiphon/runtime";
import type { EgressSettings } from "../../../services/egress-gateway/src/config.ts";
import { Leases } from "../../../services/egress-gateway/src/leases/leases.ts";
import { BudgetStore } from "../../../services/egress-gateway/src/models/budget-store.ts";
import type { Endpoint, ModelShape } from "../../../services/egress-gateway/src/models/endpoint.ts";
import type { Account } from "../../../services/egress-gateway/src/models/ledger.ts";
import { modelHost } from "../../../services/egress-gateway/src/models/model-hosts.ts";
import type { LogEntry } from "../../../services/egress-gateway/src/policy/log-entry.ts";
import { grantOf, settingsFor } from "../../support/egress-world.ts";
import { startModelScript, type Line, type ModelScript } from "../../support/model-script.ts";
import { INPUT_TOKENS, OUTPUT_TOKENS } from "../../support/model-shapes.ts";
import { eventually, startNats, type NatsServer } from "../../support/nats.ts";

/** The longest answer that a call here asks for. */
const ANSWER = 100;
/** The longest answer that the gateway passes on. */
const ANSWER_BYTES = 256 * 1024;
const STATED = INPUT_TOKENS + OUTPUT_TOKENS;
const MESSAGES = [{ role: "user", content: "hi" }];

interface Api {
  readonly shape: ModelShape;
  readonly path: (isStream: boolean) => string;
  readonly body: (isStream: boolean) => object;
}

const APIS: Readonly<Record<Endpoint, Api>> = {
  chat: {
    shape: "openai",
    path: () => "/v1/chat/completions",
    body: (stream) => ({ model: "m", messages: MESSAGES, max_tokens: ANSWER, stream }),
  },
  responses: {
    shape: "openai",
    path: () => "/v1/responses",
    body: (stream) => ({ model: "m", input: "hi", max_output_tokens: ANSWER, stream }),
  },
  messages: {
    shape: "anthropic",
    path: () => "/v1/messages",
    body: (stream) => ({ model: "m", messages: MESSAGES, max_tokens: ANSWER, stream }),
  },
  generate: {
    shape: "gemini",
    path: (stream) => `/v1beta/models/m:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: () => ({
      contents: [{ role: "user", parts: [{ text: "hi" }] }],
      generationConfig: { maxOutputTokens: ANSWER },
    }),
  },
};

/**
 * What a call costs: nothing; what its answer states; the most that it can have cost, because nobody knows what the answer that
 * broke off has used (`messages` states its input at the beginning, so that this much is known).
 */
type Cost = "nothing" | "stated" | "most";

interface Fault {
  readonly line: Line;
  readonly status: number;
  readonly cost: Cost;
  /** The rule of the log line, if the call did not end as it should. */
  readonly rule?: string;
  readonly says?: RegExp;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  "429 with a time to try again": { line: 429, status: 429, cost: "nothing", says: /answered 429/ },
  "429 without one": { line: "limited", status: 429, cost: "nothing", says: /answered 429/ },
  "500": { line: 500, status: 500, cost: "nothing", says: /answered 500/ },
  "503": { line: 503, status: 503, cost: "nothing", says: /answered 503/ },
  "an answer that says it failed": { line: "failing", status: 200, cost: "nothing", says: /overloaded/ },
  "an answer that says it failed after a part": {
    line: "broken",
    status: 200,
    cost: "most",
    says: /overloaded/,
  },
  "an answer cut in the middle": { line: "reset", status: 200, cost: "most", rule: "upstream:failed" },
  "an answer that ends in the middle": { line: "cut", status: 200, cost: "most" },
  "an answer that is no answer": { line: "garbage", status: 200, cost: "most", says: /<html>/ },
  "an answer without a byte": { line: "nothing", status: 200, cost: "most", says: /^$/ },
  "an answer that says nothing": { line: "empty", status: 200, cost: "stated" },
  "an answer that begins and goes silent": {
    line: "stalled",
    status: 200,
    cost: "most",
    rule: "upstream:idle",
  },
  "a head without an answer": { line: "silent", status: 504, cost: "most", rule: "upstream:idle" },
  "an answer in small pieces": { line: "slow", status: 200, cost: "stated", says: /I will/ },
  "an answer that never ends": { line: "endless", status: 200, cost: "most", rule: "upstream:long" },
  "a refusal": { line: "refusal", status: 200, cost: "stated", says: /I cannot help/ },
  "a call of a tool": {
    ...{ line: { calls: [["ask_person", { question: "Which one?" }]] }, status: 200, cost: "stated" },
    says: /Which one\?/,
  },
  "a question": {
    line: { text: "Which file do you mean?" },
    status: 200,
    cost: "stated",
    says: /Which file/,
  },
};

const CASES = (Object.keys(APIS) as Endpoint[]).flatMap((endpoint) =>
  [false, true].flatMap((isStream) =>
    Object.keys(FAULTS).map((fault) => [endpoint, isStream ? "streamed" : "whole", fault] as const),
  ),
);

let nats: NatsServer;
let script: ModelScript;
let leases: Leases;
let blobs: Blobs;
let budgets: Kv;
let line: Line = "nothing";
let serial = 0;

function settings(): EgressSettings {
  const base = settingsFor({ authority: "", overrides: new Map() });
  const prices = { m: { input: 1_000_000, output: 2_000_000, max_output: 1_000 } };
  const base_url = `http://127.0.0.1:${script.port}`;
  const hosts = Object.values(APIS).map(({ shape }) => `${shape}.faults.test`);
  return {
    ...base,
    upstreamCa: [],
    known: hosts.map((host) => ({ host, kind: "model", ports: [80], terminate: true })),
    models: new Map(
      Object.values(APIS).map(({ shape, path }) => {
        const version = path(false).split("/")[1] ?? "";
        return modelHost({ host: `${shape}.faults.test`, shape, prices, base_url: `${base_url}/${version}` });
      }),
    ),
  };
}

beforeAll(async () => {
  nats = await startNats();
  const bus = await nats.connect();
  await provision(bus);
  script = await startModelScript(() => line);
  blobs = openBlobs(bus, BUCKETS.evidenceFiles);
  budgets = openKv(bus, BUCKETS.budgets);
  leases = new Leases({
    settings,
    budgets: new BudgetStore(budgets),
    store: (bytes) => blobs.put(null, bytes),
    read: (recording) => blobs.get(recording),
    node: "eg_test",
    meter: silentMeter,
    log: createLogger("test", { level: "silent" }),
    now: Date.now,
    answerBytes: ANSWER_BYTES,
    deadlines: { handshakeMs: 2_000, idleMs: 300, requestMs: 30_000, checkMs: 20 },
  });
});
afterAll(async () => {
  leases.closeAll();
  await script.close();
  await nats.close();
});

/** A lease, held as a runner holds one. */
async function opened(run: string, more: Partial<EgressGrant> = {}): Promise<EgressOpened> {
  const grant = { ...grantOf([], { tokens: 1_000_000 }), ...more };
  const lease = await leases.opened({ run, task: "T-001", epoch: 1, jobId: "j", grant });
  const control = connect(lease.port, lease.host).on("error", () => undefined);
  control.write(`${lease.token} control\n`);
  await new Promise((resolve) => control.once("data", resolve));
  return lease;
}

interface Seen {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
  /** False: the connection ended before the answer did. */
  readonly isWhole: boolean;
}

/** A program of the sandbox that makes one call. */
function call(
  { host, port, token }: EgressOpened,
  endpoint: Endpoint,
  isStream: boolean,
  says = "hi",
): Promise<Seen> {
  const { shape, path, body } = APIS[endpoint];
  const socket = connect(port, host);
  socket.write(`${token} data\n`);
  const text = JSON.stringify(body(isStream)).replaceAll('"hi"', JSON.stringify(says));
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        method: "POST",
        path: `http://${shape}.faults.test${path(isStream)}`,
        headers: {
          host: `${shape}.faults.test`,
          "content-type": "application/json",
          "content-length": text.length,
        },
        createConnection: () => socket,
      },
      (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("error", () => undefined);
        response.on("close", () =>
          resolve({
            status: response.statusCode ?? 0,
            retryAfter: response.headers["retry-after"],
            text: Buffer.concat(pieces).toString("utf8"),
            isWhole: response.complete,
          }),
        );
      },
    );
    request.on("error", reject);
    request.end(text);
  });
}

interface Kept {
  readonly report: EgressReport;
  readonly entries: readonly LogEntry[];
  readonly account: Account | null;
  readonly recordings: readonly ModelRecording[];
}

async function kept(run: string, lease: string): Promise<Kept> {
  const report = await leases.closed(lease);
  const log = report.log === null ? "" : (await blobs.get(report.log)).toString("utf8");
  const recordings = await Promise.all(report.recordings.map((ref) => blobs.get(ref)));
  return {
    report,
    entries: log
      .split("\n")
      .filter((entry) => entry !== "")
      .map((entry) => JSON.parse(entry) as LogEntry),
    account: (await budgets.get<Account>(run))?.value ?? null,
    recordings: recordings.map((bytes) => {
      const checked = validate("ModelRecording", JSON.parse(bytes.toString("utf8")));
      if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
      return checked.value;
    }),
  };
}

function tokensOf(cost: Cost, entry: LogEntry | undefined, endpoint: Endpoint, isBegun: boolean): number {
  if (cost === "nothing") return 0;
  if (cost === "stated") return STATED;
  return endpoint === "messages" && isBegun ? INPUT_TOKENS + ANSWER : (entry?.model?.reserved_tokens ?? -1);
}

test.each(CASES)("%s, %s: %s", async (endpoint, form, name) => {
  const fault = FAULTS[name]!;
  const isStream = form === "streamed";
  line = fault.line;
  const run = `run_faults_${(serial += 1)}`;
  const lease = await opened(run);
  const asked = script.heard.length;
  const seen = await call(lease, endpoint, isStream);
  const { report, entries, account, recordings } = await kept(run, lease.lease);

  expect(script.heard.length).toBe(asked + 1); // The gateway tries nothing again; that is up to the program.
  expect(seen).toMatchObject({
    status: fault.status,
    isWhole: fault.rule === undefined || fault.status === 504,
  });
  if (fault.says !== undefined) expect(seen.text).toMatch(fault.says);
  expect(seen.retryAfter).toBe(typeof fault.line === "number" ? "0" : undefined);

  expect(entries).toHaveLength(1);
  const [entry] = entries;
  expect(entry).toMatchObject({
    rule: fault.rule ?? `model:${endpoint}`,
    decision: fault.rule === undefined ? "allow" : "fault",
  });
  const isBegun = isStream && recordings[0]?.response.text.includes("message_start") === true;
  const tokens = tokensOf(fault.cost, entry, endpoint, isBegun);
  expect(entry?.model).toMatchObject({ charged_tokens: tokens });
  expect(tokens).toBeLessThanOrEqual(entry?.model?.reserved_tokens ?? 0);

  const usd_micro = entry?.model?.charged_usd_micro ?? -1;
  expect(usd_micro > 0).toBe(tokens > 0);
  expect(report).toMatchObject({ model_calls: 1, model_tokens: tokens, model_usd_micro: usd_micro });
  expect(account).toEqual({
    v: 1,
    calls: 1,
    used: { tokens, usd_micro },
    reserved: { tokens: 0, usd_micro: 0 },
  });

  expect(recordings).toHaveLength(1);
  const [recording] = recordings;
  expect(entry?.model?.recording).toBe(report.recordings[0]?.name);
  expect(recording?.charged).toEqual({ tokens, usd_micro });
  const isTruncated = fault.line === "endless";
  expect(recording?.response).toMatchObject({
    status: fault.status === 504 ? 200 : fault.status,
    truncated: isTruncated,
    whole: fault.rule === undefined,
  });
  // Bytes that were on their way when the connection was cut are in the recording only.
  const heard = recording?.response.text ?? "";
  if (fault.status !== 504) expect(heard.startsWith(seen.text)).toBe(true);
  if (seen.isWhole && fault.status !== 504) expect(heard).toBe(seen.text);
  if (isTruncated) expect(heard.length).toBeLessThanOrEqual(ANSWER_BYTES);
});

test("a call whose program hangs up while the answer arrives is charged, given back and recorded as broken off", async () => {
  line = "stalled";
  const run = "run_faults_gone";
  const lease = await opened(run);
  const socket = connect(lease.port, lease.host).on("error", () => undefined);
  const body = JSON.stringify(APIS.responses.body(true));
  socket.write(`${lease.token} data\nPOST http://openai.faults.test/v1/responses HTTP/1.1\r\n`);
  socket.write(
    `Host: openai.faults.test\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await new Promise((resolve) => socket.once("data", resolve));
  socket.destroy();
  await eventually("it is settled", async () => {
    const { reserved, used } = (await budgets.get<Account>(run))!.value;
    return reserved.tokens === 0 && used.tokens > 0;
  });
  const { report, entries, account, recordings } = await kept(run, lease.lease);
  expect(entries).toEqual([expect.objectContaining({ rule: "client:gone" })]);
  expect([account?.used.tokens, recordings[0]?.charged.tokens]).toEqual([
    report.model_tokens,
    report.model_tokens,
  ]);
  expect(recordings[0]?.response).toMatchObject({ whole: false });
});

const CANARY = "canary-of-the-run-51c7";
const API_KEY = `sk-proj-${"Ab1".repeat(14)}`;

test.each([false, true])(
  "secrets of a prompt and of an answer are not in the recording, and a replay has its answers (streamed: %s)",
  async (isStream) => {
    line = { text: `The key is ${API_KEY}, and the other ${CANARY}.` };
    const says = `use ${CANARY} and ${API_KEY}`;
    const masks = [CANARY];
    for (const endpoint of Object.keys(APIS) as Endpoint[]) {
      const lease = await opened(`run_masked_${(serial += 1)}`, { masks });
      const seen = await call(lease, endpoint, isStream, says);
      expect(seen.text).toContain(API_KEY); // The program gets what the model said.
      const { report, recordings } = await kept("run_none", lease.lease);
      const text = JSON.stringify(recordings);
      expect([text.includes(CANARY), text.includes(API_KEY)]).toEqual([false, false]);
      expect(recordings[0]?.response.masked).toBe(true);

      const replay = { calls: report.recordings, then: "stop" as const };
      const again = await opened(`run_masked_${(serial += 1)}`, { masks, replay, model_budget: null });
      const asked = script.heard.length;
      const replayed = await call(again, endpoint, isStream, says);
      expect(replayed).toMatchObject({ status: 200, isWhole: true });
      expect(replayed.text).toContain("The key is ***");
      expect(script.heard).toHaveLength(asked);
      expect((await kept("run_none", again.lease)).report.replay).toMatchObject({
        ...{ served: 1, strayed: expect.stringContaining("stars in place of a secret") as string },
      });
    }
  },
);
