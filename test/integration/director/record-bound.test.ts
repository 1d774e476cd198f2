/** Bodies that are too large for one record of the journal, with the real server, Router, Director and gateway. */
import {
  BUCKETS,
  bodyBytes,
  limits,
  recordBodyBytes,
  type CheckOutcome,
  type NewRecord,
  type StoredRecord,
  type VerdictBody,
} from "@antiphon/contracts";
import {
  createLogger,
  openBlobs,
  openJournal,
  openKv,
  openSigningKey,
  readRuntimeConfig,
  startService,
} from "@antiphon/runtime";
import type { Role, RunningService, ServiceContext } from "@antiphon/runtime";
import { runOptions } from "@antiphon/contracts/testing/records";
import { afterAll, beforeAll, expect, test } from "vitest";
import { VerdictEvidence } from "../../../services/director/src/verification/verdict-evidence.ts";
import { readDirectorConfig } from "../../../services/director/src/config.ts";
import { directOver } from "../../../services/director/src/directing.ts";
import { startRouter } from "../../../services/router/src/wiring.ts";
import { INSPECTED, inProcessRepository } from "../../load/in-process-ports.ts";
import { eventually, startNats } from "../../support/nats.ts";
import type { NatsServer } from "../../support/nats.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import { intentFor, openWorld } from "../gateway/gateway-world.ts";

const silent = createLogger("test", { level: "silent" });
const times = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));

function serve(url: string, name: string, start: (context: ServiceContext) => Role): Promise<RunningService> {
  const config = readRuntimeConfig({ ANTIPHON_NATS_URL: url, ANTIPHON_UNSAFE_TRUST: "1" });
  const service = { name, start: (context: ServiceContext) => Promise.resolve(start(context)) };
  return startService(service, config, silent);
}

function serveRouter(url: string): Promise<RunningService> {
  return serve(url, "router", (context) => {
    const consumption = startRouter(context, 8);
    return { drain: () => consumption.drain() };
  });
}

test("router/R3: a run of 256 tasks whose plan is too large for one record is accepted and ends with ANT_PLAN_INVALID", async () => {
  const world = await openWorld();
  const router = await serveRouter(world.nats.url);
  try {
    const inputs = {
      agent: { kind: "command", argv: ["sh", "-c", "agent --edit --quiet"] },
      checks: ["npm test"],
      tasks: times(limits.tasksPerRun, (i) => ({
        id: i + 1,
        description: `Move the handler of page ${i + 1} into a file of its own, with a test`,
        dependencies: [],
      })),
    };
    const intent = intentFor(makeRepo({ files: { "a.txt": "a\n" } }).path, inputs);
    const stored = await world.call("POST", "/intents", { body: intent });
    const answer = await world.call("POST", `/intents/${String(stored.body.intentId)}/run`);
    expect(answer.status, answer.text).toBe(202);
    const runId = String(answer.body.runId);
    const ending = () => world.journal.find("closed", runId, null, 0);
    await eventually("the run is closed", async () => (await ending()) !== null);
    const closed = await ending();
    expect(closed?.body).toMatchObject({
      status: "failed",
      code: "ANT_PLAN_INVALID",
      contract: { status: "BLOCKED" },
    });
    expect(JSON.stringify(closed?.body)).toContain("give the run fewer tasks or checks");
    expect((await world.call("GET", "/v1/dead-letters")).body.letters).toEqual([]);
  } finally {
    await router.stop();
    await world.close();
    cleanUpRepos();
  }
});

/** A server with Router and Director. The test plays the Associate and the clean room. */
let nats: NatsServer;
let services: RunningService[] = [];
let trials: { purpose: string; epoch: number }[] = [];
const RED_ATTEMPTS = 6;
const CHECKS = times(64, (i) => `npm run check-${i}`);

beforeAll(async () => {
  nats = await startNats();
  const router = await serveRouter(nats.url);
  const director = await serve(nats.url, "director", (context) => {
    const { bus, node } = context;
    const files = openBlobs(bus, BUCKETS.evidenceFiles);
    const evidence = new VerdictEvidence(openKv(bus, BUCKETS.evidence), files, node);
    const log = { bucket: BUCKETS.evidenceFiles, name: "f".repeat(64), digest: DIGEST, bytes: 900_000 };
    const room = {
      check: ({ checks, purpose, epoch }: { checks: readonly string[]; purpose: string; epoch: number }) => {
        trials.push({ purpose, epoch });
        const exitCode = purpose === "base" || epoch <= RED_ATTEMPTS ? 1 : 0;
        const said = { exitCode, timedOut: false, durationMs: 1, stdout: log, stderr: log };
        const outcomes = checks.map((command): CheckOutcome => ({
          command,
          ...said,
          tail: "x".repeat(2048),
        }));
        return Promise.resolve({ trials: [outcomes, outcomes], written: null });
      },
    };
    const ports = { repository: inProcessRepository(), room, evidence };
    return directOver(context, readDirectorConfig({}), ports, openSigningKey(null));
  });
  services = [router, director];
});

afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  await nats.close();
});

const DIGEST = `sha256-${"A".repeat(43)}`;

test("64 chatty checks fail six times and then pass: every verdict and dispatch is stored, and no clean room works twice", async () => {
  const bus = await nats.connect();
  const journal = openJournal(bus);
  const runId = "run_chatty";
  trials = [];
  const patch = await openBlobs(bus, BUCKETS.evidenceFiles).put(null, Buffer.from("a patch"));
  const options = { checks: CHECKS, max_attempts: 20, repo: INSPECTED.base.repo };
  await journal.append({
    type: "intent",
    runId,
    taskId: null,
    epoch: 0,
    cause: null,
    body: {
      intentId: "it_1",
      intent: { goal: "Fix the crash", inputs: {}, constraints: { acceptance_criteria: ["it works"] } },
      options: runOptions(options),
      base: INSPECTED.base,
      principal: "test",
    },
  });
  for (let epoch = 1; epoch <= RED_ATTEMPTS + 1; epoch += 1) {
    let dispatch: StoredRecord | null = null;
    await eventually(`attempt ${epoch} is dispatched`, async () => {
      dispatch = await journal.find("dispatch", runId, "T-001", epoch);
      return dispatch !== null;
    });
    await journal.append(reported(runId, epoch, patch, dispatch));
  }
  await eventually("the run is closed", async () => (await journal.find("closed", runId, null, 0)) !== null);
  const records = await journal.read(runId);
  const last = records.at(-1);
  expect(last?.type === "closed" && last.body).toMatchObject({ status: "succeeded", code: null });
  const verdicts = records.filter((record) => record.type === "verdict");
  expect(verdicts.map(({ body }) => [body.verdict, body.checks.length, body.baseChecks.length])).toEqual([
    ...times(RED_ATTEMPTS, () => ["FAIL", 64, 64]),
    ["PASS", 64, 64],
  ]);
  const dispatches = records.filter((record) => record.type === "dispatch");
  expect(dispatches.at(-1)?.body.feedback.map(({ checks }) => checks.length)).toContain(64);
  // Each attempt takes one clean room for all its trials; one serves the base of them all.
  expect(trials.map(({ purpose }) => purpose).sort()).toEqual([
    "base",
    ...Array.from({ length: RED_ATTEMPTS + 1 }, () => "verify"),
  ]);
});

function reported(
  runId: string,
  epoch: number,
  patch: { bucket: string; name: string; digest: string; bytes: number },
  dispatch: StoredRecord | null,
): NewRecord {
  return {
    type: "result",
    runId,
    taskId: "T-001",
    epoch,
    cause: dispatch === null ? null : { seq: dispatch.seq, digest: dispatch.digest },
    body: {
      kind: "reported",
      associate: "as_test",
      result: {
        task_id: "T-001",
        status: "ok",
        summary: "did it",
        diff: null,
        files_changed: [],
        commands_run: [],
        verify: { mode: "smoke", status: "pass", commands: [], logs_path: null },
        questions: [],
        suggested_next: null,
      },
      code: null,
      evidence: { key: `k.${epoch}`, digest: DIGEST },
      patch,
    },
  };
}

test("the largest allowed body is stored under the longest names, signed and traced; a larger one is refused for good", async () => {
  const journal = openJournal(await nats.connect(), { key: openSigningKey(null) });
  const longest = {
    type: "verdict" as const,
    runId: `run_${"r".repeat(32)}`,
    taskId: "T".repeat(64),
    cause: { seq: Number.MAX_SAFE_INTEGER, digest: DIGEST },
  };
  const traceparent = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
  const verdict: VerdictBody = {
    verdict: "PASS",
    code: null,
    message: "",
    checks: [],
    baseChecks: [],
    head: "a".repeat(40),
    commit: null,
    tree: null,
    evidence: null,
  };
  const bodyOf = (bytes: number): VerdictBody => {
    // The length prefix of a long text takes four bytes more than that of an empty one.
    const body = { ...verdict, message: "m".repeat(bytes - bodyBytes(verdict) - 4) };
    expect(bodyBytes(body)).toBe(bytes);
    return body;
  };
  const append = (epoch: number, bytes: number) =>
    journal.append({ ...longest, epoch, body: bodyOf(bytes) }, { traceparent, probablyAfter: 0 });
  expect(await append(1_000_000, recordBodyBytes)).toMatchObject({ kind: "appended" });
  await expect(append(999_999, limits.recordBytes)).rejects.toMatchObject({ code: "ANT_NATS_REJECTED" });
});
