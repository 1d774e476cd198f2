/** What people say to a run over HTTP, with the real Router and Director behind it. The test is the Associate. */
import { createLogger, readRuntimeConfig, startService } from "@antiphon/runtime";
import type { RunningService } from "@antiphon/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRouter } from "../../services/router/src/service.ts";
import { cleanUpRepos, makeRepo } from "../support/repo.ts";
import type { TestRepo } from "../support/repo.ts";
import { errorOf, intentFor, openWorld } from "./gateway-world.ts";
import type { World } from "./gateway-world.ts";
import { eventually } from "../support/nats.ts";

let world: World;
let router: RunningService;
let repo: TestRepo;

beforeAll(async () => {
  world = await openWorld();
  repo = makeRepo({ files: { "a.txt": "a\n" } });
  router = await startService(
    {
      name: "router",
      start: (context) => {
        const consumption = startRouter(context, 8);
        return Promise.resolve({ drain: () => consumption.drain() });
      },
    },
    readRuntimeConfig({ ANTIPHON_NATS_URL: world.nats.url }),
    createLogger("router", { level: "silent" }),
  );
});

afterAll(async () => {
  await router.stop();
  await world.close();
  cleanUpRepos();
});

let goals = 0;

async function begin(inputs: Record<string, unknown> = {}): Promise<string> {
  const intent = { ...intentFor(repo.path, inputs), goal: `Do it ${(goals += 1)}` };
  const stored = await world.call("POST", "/intents", { body: intent });
  const started = await world.call("POST", `/intents/${String(stored.body.intentId)}/run`);
  expect(started.status, started.text).toBe(202);
  return String(started.body.runId);
}

/** Every record there is has been handled by both services: what they wanted to do about it is done. */
async function settled(): Promise<void> {
  await eventually("router and director are idle", async () => {
    for (const name of ["router", "director"]) {
      const { num_ack_pending, num_pending } = await world.bus.jsm.consumers.info("ANT_JOURNAL_0", name);
      if (num_ack_pending + num_pending > 0) return false;
    }
    return true;
  });
}

const types = async (runId: string) => (await world.journal.read(runId)).map(({ type }) => type);
const say = (runId: string, verb: string, body?: unknown) =>
  world.call("POST", `/v1/runs/${runId}/${verb}`, body === undefined ? {} : { body });

describe("pause and resume", () => {
  test("D11 nothing new is dispatched while paused; the resume dispatches; each is said once", async () => {
    const runId = await begin();
    await eventually("dispatched", async () => (await types(runId)).includes("dispatch"));
    const held = await begin();
    const paused = await say(held, "pause", { reason: "freeze" });
    expect(paused).toMatchObject({ status: 202, body: { accepted: true, already: false, event: "pause" } });
    await settled();
    // The run may have been dispatched before the pause reached the journal: then there is nothing to hold back.
    const before = (await types(held)).filter((type) => type === "dispatch").length;
    const again = await say(held, "pause");
    expect(again).toMatchObject({ status: 202, body: { already: true } });
    expect((await types(held)).filter((type) => type === "control")).toHaveLength(1);

    // A lost attempt comes back at the next epoch: not while the run is held.
    if (before === 1) {
      await world.journal.append({
        type: "result",
        runId: held,
        taskId: "T-001",
        epoch: 1,
        cause: null,
        body: { kind: "lapsed", observer: "as_test", holder: "as_gone" },
      });
    }
    await settled();
    expect((await types(held)).filter((type) => type === "dispatch")).toHaveLength(before);
    const view = await world.call("GET", `/runs/${held}`);
    expect(view.body).toMatchObject({ status: "running", steps: [{ phase: "paused" }] });
    const list = await world.call("GET", "/runs");
    expect(list.body.runs).toContainEqual(expect.objectContaining({ runId: held, paused: true }));

    expect(await say(held, "resume")).toMatchObject({ status: 202, body: { already: false } });
    expect(await say(held, "resume")).toMatchObject({ status: 202, body: { already: true } });
    await eventually(
      "dispatched again",
      async () => (await types(held)).filter((type) => type === "dispatch").length === before + 1,
    );
    expect((await types(held)).filter((type) => type === "control")).toHaveLength(2);
  });

  test("asked by many at once, it is on record once", async () => {
    const runId = await begin();
    const answers = await Promise.all(Array.from({ length: 6 }, () => say(runId, "pause")));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(202));
    expect(answers.filter(({ body }) => body.already === false)).toHaveLength(1);
    expect((await types(runId)).filter((type) => type === "control")).toHaveLength(1);
  });

  test("a run that is over or unknown, and a body that says something else, are refused and write nothing", async () => {
    const runId = await begin();
    await world.call("POST", `/runs/${runId}/events`, { body: { event: "cancel" } });
    await eventually("closed", async () => (await types(runId)).includes("closed"));
    const before = await types(runId);
    for (const verb of ["pause", "resume"]) {
      const late = await say(runId, verb);
      expect(late.status).toBe(409);
      expect(errorOf(late)).toMatchObject({ code: "ANT_RUN_TERMINAL", status: "canceled" });
      expect((await say("run_nobody", verb)).status).toBe(404);
      expect(errorOf(await say(runId, verb, { why: "x" }))).toMatchObject({ code: "ANT_CONTRACT_INVALID" });
    }
    expect(await types(runId)).toEqual(before);
  });
});
