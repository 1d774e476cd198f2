/**
 * A run that nothing could prove asks its person before any attempt. The Router, the gateway and the Directors are real; Directors
 * are processes where they are killed. There is no Associate, so a dispatch shows that the run has gone on.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { BUCKETS, journalStream, partitionOf } from "@antiphon/contracts";
import type { StoredRecord } from "@antiphon/contracts";
import {
  createLogger,
  openKv,
  readRuntimeConfig,
  startService,
  type RunningService,
} from "@antiphon/runtime";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { startRouter } from "../../../services/router/src/wiring.ts";
import { endOf, eventually } from "../../support/nats.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import { errorOf, intentFor, openWorld, type Answer, type World } from "../gateway/gateway-world.ts";
import { builtProgram } from "../../support/built-program.ts";

const log = createLogger("test", { level: "silent" });
const SCRIPT = new URL("../../support/director-process.ts", import.meta.url);
const PARTS = [1, 2, 3].map((id) => ({ id, description: `part ${id}`, dependencies: [] }));

let world: World;
let router: RunningService;
let repo: string;
const directors: ChildProcess[] = [];

beforeAll(async () => {
  repo = makeRepo({ files: { "a.txt": "a\n", Makefile: "lint:\n\ttrue\n" } }).path;
  world = await openWorld({}, {}, { timers: { armAfterMs: 50, graceMs: 300, questionMs: 60_000 } });
  await world.stopDirector(); // From here on the Directors are processes.
  const config = readRuntimeConfig({ ANTIPHON_NATS_URL: world.nats.url, ANTIPHON_UNSAFE_TRUST: "1" });
  router = await startService(
    {
      name: "router",
      start: (context) => {
        const consumption = startRouter(context, 8);
        return Promise.resolve({ drain: () => consumption.drain() });
      },
    },
    config,
    log,
  );
});
afterEach(killDirectors);
afterAll(async () => {
  await router.stop();
  await world.close();
  cleanUpRepos();
});

async function killDirectors(): Promise<void> {
  await Promise.all(directors.splice(0).map((child) => endOf(child, "SIGKILL")));
}

/** Starts Directors and waits until they serve. */
async function direct(count = 1): Promise<void> {
  const before = await serving();
  const env = { ...process.env, ANTIPHON_NATS_URL: world.nats.url, ANTIPHON_UNSAFE_TRUST: "1" };
  const program = await builtProgram(SCRIPT);
  for (let i = 0; i < count; i += 1)
    directors.push(spawn(process.execPath, [program], { env, stdio: "ignore" }));
  await eventually("the Directors serve", async () => (await serving()) >= before + count, 60_000);
}
async function serving(): Promise<number> {
  const { body } = await world.call("GET", "/services");
  return ((body.services ?? []) as { name: string }[]).filter(({ name }) => name === "director").length;
}

const post = (path: string, body?: unknown): Promise<Answer> =>
  world.call("POST", path, body === undefined ? {} : { body });
const say = (runId: string, body: object): Promise<Answer> => post(`/runs/${runId}/events`, body);
const answer = (runId: string, ...answers: string[]): Promise<Answer> =>
  say(runId, { event: "answer", answers });

let goals = 0;
async function begin(
  inputs: Record<string, unknown> = {},
  constraints: Record<string, unknown> = {},
): Promise<string> {
  const body = { ...intentFor(repo, inputs, constraints), goal: `Add part ${(goals += 1)}` };
  const stored = await post("/intents", body);
  const started = await post(`/intents/${String(stored.body.intentId)}/run`);
  expect(started.status, started.text).toBe(202);
  return String(started.body.runId);
}

async function recordsOf<T extends StoredRecord["type"]>(
  runId: string,
  type: T,
): Promise<Extract<StoredRecord, { type: T }>[]> {
  const records = await world.journal.read(runId);
  return records.filter((record): record is Extract<StoredRecord, { type: T }> => record.type === type);
}
async function until<T extends StoredRecord["type"]>(runId: string, type: T, count = 1) {
  let found: Extract<StoredRecord, { type: T }>[] = [];
  await eventually(
    `${count} ${type} of ${runId}`,
    async () => (found = await recordsOf(runId, type)).length >= count,
    60_000,
  );
  return found;
}
const viewOf = async (runId: string): Promise<Record<string, unknown>> =>
  (await world.call("GET", `/runs/${runId}`)).body;

async function askedRun(
  inputs: Record<string, unknown> = {},
  constraints: Record<string, unknown> = {},
): Promise<string> {
  const runId = await begin(inputs, constraints);
  await until(runId, "verdict");
  return runId;
}

describe("run/R12: a run without a check", () => {
  test("asks once, whichever Director asks and is killed then, and goes on with the answer that came meanwhile", async () => {
    await direct(2);
    const runId = await askedRun({ tasks: PARTS });
    await killDirectors();
    expect(await viewOf(runId)).toMatchObject({
      status: "waiting_input",
      steps: [{ phase: "waiting_input", epoch: 1 }, { epoch: 0 }, { epoch: 0 }],
    });
    expect((await answer(runId, "make test")).status).toBe(202);
    const late = await answer(runId, "make");
    expect([late.status, errorOf(late)]).toMatchObject([409, { code: "ANT_RUN_NOT_WAITING" }]);
    await direct(2);
    const dispatched = await until(runId, "dispatch", 3);
    expect(dispatched.map(({ taskId, epoch }) => `${taskId} ${epoch}`).sort()).toEqual([
      "T-001 2",
      "T-002 1",
      "T-003 1",
    ]);
    for (const { body } of dispatched)
      expect([body.task.verify_profile.commands, body.answers]).toEqual([["make test"], []]);
    const verdicts = await recordsOf(runId, "verdict");
    expect(verdicts.map(({ taskId, body }) => [taskId, body.asks?.map(({ tasks }) => tasks)])).toEqual([
      ["T-001", [["T-001", "T-002", "T-003"]]],
    ]);
    expect(verdicts[0]?.body.asks?.[0]?.question).toContain("perhaps `make lint`");
  });

  test("asks although the Director was killed before the question was stored", async () => {
    await direct();
    const runId = await begin();
    await killDirectors(); // Before or after it has read the run.
    await until(runId, "routed");
    await direct();
    await until(runId, "verdict");
    expect(await recordsOf(runId, "dispatch")).toEqual([]);
    expect((await say(runId, { event: "cancel" })).status).toBe(202);
    const [closed] = await until(runId, "closed");
    expect(closed?.body.status).toBe("canceled");
  });

  test("ends with the code of the missing check if nobody answers in time, also after a restart of its Director", async () => {
    await direct();
    const runId = await askedRun({}, { question_timeout_s: 4 });
    const [routed] = await recordsOf(runId, "routed");
    await eventually("the question is acknowledged with its timer", async () => {
      const { ack_floor } = await world.bus.jsm.consumers.info(journalStream(partitionOf(runId)), "director");
      return ack_floor.stream_seq >= (routed?.seq ?? Infinity);
    });
    await killDirectors();
    await direct();
    const [closed] = await until(runId, "closed");
    expect(closed?.body).toMatchObject({
      status: "failed",
      code: "ANT_VERIFY_NO_CHECK",
      contract: { status: "NEEDS_REVIEW" },
      message: expect.stringContaining("nobody answered in time") as string,
    });
    const late = await answer(runId, "make");
    expect([late.status, errorOf(late)]).toMatchObject([409, { code: "ANT_RUN_TERMINAL" }]);
  });

  test("refuses an answer that is no check, stores nothing and goes on asking", async () => {
    await direct();
    const runId = await askedRun();
    for (const bad of [["make\nmake test"], ["  "], ["a", "b"]]) {
      const refused = await answer(runId, ...bad);
      expect([refused.status, errorOf(refused)]).toMatchObject([422, { code: "ANT_ANSWER_NO_CHECK" }]);
    }
    expect([await recordsOf(runId, "input"), (await viewOf(runId))["status"]]).toEqual([[], "waiting_input"]);
    await say(runId, { event: "approval", choice: "reject", reason: "not now" });
    const [closed] = await until(runId, "closed");
    expect(closed?.body.code).toBe("ANT_TASK_REJECTED");
  });

  test("is taken without proof only by those whom the policy lets allow that", async () => {
    await direct();
    const runId = await askedRun();
    const enforce = (requireTestsBeforePush: boolean) =>
      openKv(world.bus, BUCKETS.policies).put("config", {
        profiles: {
          team: {
            name: "team",
            protectedBranches: [],
            requireTestsBeforePush,
            requireApprovalForPush: false,
            allowedWorkItemTransitions: [],
          },
        },
        defaultProfile: "team",
        globalLimits: {},
      });
    await enforce(true);
    const refused = await answer(runId, "unverified");
    expect([refused.status, errorOf(refused)]).toMatchObject([
      403,
      { code: "ANT_POLICY_REFUSED", rule: "requireTestsBeforePush", value: "allow_unverified" },
    ]);
    expect((await viewOf(runId))["status"]).toBe("waiting_input");
    await enforce(false);
    expect((await answer(runId, "unverified")).status).toBe(202);
    const [dispatch] = await until(runId, "dispatch");
    expect([dispatch?.epoch, dispatch?.body.task.verify_profile.commands]).toEqual([2, []]);
  });

  test("ends at once if its caller wants no question", async () => {
    await direct();
    const runId = await begin({}, { end_without_check: true });
    const [closed] = await until(runId, "closed");
    expect(closed?.body).toMatchObject({ status: "failed", code: "ANT_VERIFY_NO_CHECK" });
    expect((await recordsOf(runId, "verdict"))[0]?.body).not.toHaveProperty("asks");
  });
});
