import { AntiphonError } from "@antiphon/contracts";
import type { IntentBody, RoutedBody, RunOptions } from "@antiphon/contracts";
import { createLogger, openJournal, readRuntimeConfig, startService } from "@antiphon/runtime";
import type { Bus, Journal, RunningService } from "@antiphon/runtime";
import { runOptions } from "@antiphon/contracts/testing/records";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRouter } from "../../../services/router/src/wiring.ts";
import { eventually, startNats } from "../../support/nats.ts";
import type { NatsServer } from "../../support/nats.ts";

let nats: NatsServer;
let bus: Bus;
let journal: Journal;
const routers: RunningService[] = [];

async function startOne(): Promise<RunningService> {
  const service = await startService(
    {
      name: "router",
      start: (context) => {
        const consumption = startRouter(context, 8);
        return Promise.resolve({ drain: () => consumption.drain() });
      },
    },
    readRuntimeConfig({ ANTIPHON_NATS_URL: nats.url, ANTIPHON_UNSAFE_TRUST: "1" }),
    createLogger("router", { level: "silent" }),
  );
  routers.push(service);
  return service;
}

beforeAll(async () => {
  nats = await startNats();
  await startOne();
  bus = await nats.connect();
  journal = openJournal(bus);
});

afterAll(async () => {
  await Promise.all(routers.map((router) => router.stop()));
  await nats.close();
});

let runs = 0;

async function ask(goal: string, options: Partial<RunOptions> = {}): Promise<string> {
  const runId = `run_r${(runs += 1)}`;
  const repo = { name: "app", path: "/srv/app" };
  const body: IntentBody = {
    intentId: "it_1",
    intent: { goal, inputs: {}, constraints: {} },
    options: runOptions({ repo, agent: { kind: "scripted", commands: ["true"] }, ...options }),
    base: { repo, ref: "refs/heads/main", commit: "a".repeat(40) },
    principal: "test",
  };
  const done = await journal.append({ type: "intent", runId, taskId: null, epoch: 0, cause: null, body });
  if (done.kind === "conflict") throw new AntiphonError("ANT_JOURNAL_CONFLICT");
  return runId;
}

async function routed(runId: string): Promise<RoutedBody> {
  await eventually(`${runId} is routed`, async () => (await journal.find("routed", runId, null, 0)) !== null);
  const record = await journal.find("routed", runId, null, 0);
  if (record?.type !== "routed") throw new Error("unreachable");
  return record.body;
}

async function unacknowledged(): Promise<number> {
  const { num_ack_pending, num_pending } = await bus.jsm.consumers.info("ANT_JOURNAL_0", "router");
  return num_ack_pending + num_pending;
}

describe("the Router", () => {
  test("answers an intent with a workflow, its reason and a contract; the cause is the intent", async () => {
    const runId = await ask("Fix the failing date parser");
    const body = await routed(runId);
    expect(body).toMatchObject({
      workflow: "DEBUG",
      contract: {
        status: "IN_PROGRESS",
        intent: "Fix the failing date parser",
        next_action: "Start with Task 1",
      },
      tasks: [{ deps: [], task: { task_id: "T-001", kind: "edit_repo" } }],
    });
    expect(body.reason).toContain("failing");
    const records = await journal.read(runId);
    expect(records.map((record) => record.type)).toEqual(["intent", "routed"]);
    expect(records[1]?.cause).toEqual({ seq: records[0]?.seq, digest: records[0]?.digest });
    await eventually("the intent is acknowledged", async () => (await unacknowledged()) === 0);
  });

  test("router/R3: a circular task graph is routed as BLOCKED, so that the run can end", async () => {
    const tasks = [
      { id: 1, description: "one", dependencies: [2] },
      { id: 2, description: "two", dependencies: [1] },
    ];
    const body = await routed(await ask("Add dark mode", { tasks }));
    expect(body).toMatchObject({ tasks: [], contract: { status: "BLOCKED" } });
    expect(body.reason).toContain("1 -> 2 -> 1");
  });

  test("two Routers and a redelivery leave one record", async () => {
    await startOne();
    const ids = await Promise.all(Array.from({ length: 50 }, () => ask("Add a badge")));
    await Promise.all(ids.map(routed));
    for (const runId of ids) {
      expect((await journal.read(runId)).filter((record) => record.type === "routed")).toHaveLength(1);
    }
    await eventually("all are acknowledged", async () => (await unacknowledged()) === 0);
  });

  test("an intent that arrives while no Router runs is routed when one is back", async () => {
    await Promise.all(routers.splice(0).map((router) => router.stop()));
    const runId = await ask("Plan the migration");
    expect(await journal.find("routed", runId, null, 0)).toBeNull();
    await startOne();
    expect((await routed(runId)).workflow).toBe("PLAN");
  });
});
