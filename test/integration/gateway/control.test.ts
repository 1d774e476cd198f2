/** Control of runs over HTTP, with the real Router and Director behind it. The test plays the Associate. */
import { limits, subjects } from "@antiphon/contracts";
import {
  callRpc,
  consume,
  countOpenRuns,
  createLogger,
  readRuntimeConfig,
  requeueing,
  serveRpc,
  startService,
} from "@antiphon/runtime";
import type { Delivery, Outcome, RunningService } from "@antiphon/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OpenRunsWatch } from "../../../services/gateway/src/backend/open-runs-watch.ts";
import { startRouter } from "../../../services/router/src/wiring.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import type { TestRepo } from "../../support/repo.ts";
import { errorOf, intentFor, openWorld } from "./gateway-world.ts";
import type { World } from "./gateway-world.ts";
import { eventually } from "../../support/nats.ts";

let world: World;
let router: RunningService;
let repo: TestRepo;

beforeAll(async () => {
  // Lost attempts are retried at once: timers.test.ts covers the delay between them.
  const policy = {
    maxAttempts: 3,
    maxLapses: limits.maxLapses,
    maxOutages: limits.maxOutages,
    maxIntegrations: 3,
    restMs: 1,
  };
  const timers = { armAfterMs: 20, graceMs: 60_000, questionMs: 60_000 };
  world = await openWorld({}, {}, { policy, timers });
  repo = makeRepo({ files: { "a.txt": "a\n" } });
  router = await startService(
    {
      name: "router",
      start: (context) => {
        const consumption = startRouter(context, 8);
        return Promise.resolve({ drain: () => consumption.drain() });
      },
    },
    readRuntimeConfig({ ANTIPHON_NATS_URL: world.nats.url, ANTIPHON_UNSAFE_TRUST: "1" }),
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
  const intent = { ...intentFor(repo.path, { checks: ["true"], ...inputs }), goal: `Do it ${(goals += 1)}` };
  const stored = await world.call("POST", "/intents", { body: intent });
  const started = await world.call("POST", `/intents/${String(stored.body.intentId)}/run`);
  expect(started.status, started.text).toBe(202);
  return String(started.body.runId);
}

/** Waits until both services have handled every record and carried out its effects. */
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

/** The Associates lose every attempt of the run's first task, until it is given up. */
async function poison(runId: string): Promise<void> {
  for (let epoch = 1; epoch <= limits.maxLapses + 1; epoch += 1) {
    await eventually(`dispatched at ${epoch}`, async () => {
      const records = await world.journal.read(runId);
      return records.some((record) => record.type === "dispatch" && record.epoch === epoch);
    });
    await world.journal.append({
      type: "result",
      runId,
      taskId: "T-001",
      epoch,
      cause: null,
      body: { kind: "lapsed", observer: "as_test", holder: "as_gone" },
    });
  }
  await eventually("closed", async () => (await types(runId)).includes("closed"));
}

describe("retry", () => {
  test("a failed or canceled run is retried as one new run of the same intent, even if the retry is requested repeatedly", async () => {
    const runId = await begin();
    const early = await say(runId, "retry");
    expect(early.status).toBe(409);
    expect(errorOf(early)).toMatchObject({ code: "ANT_RUN_NOT_RETRYABLE" });
    await world.call("POST", `/runs/${runId}/events`, { body: { event: "cancel" } });
    await eventually("closed", async () => (await types(runId)).includes("closed"));
    await settled();
    const before = await types(runId);

    const answers = await Promise.all([say(runId, "retry"), say(runId, "retry")]);
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    const again = await say(runId, "retry");
    expect(again).toMatchObject({ status: 202, body: { retryOf: runId, replayed: true } });
    const ids = new Set([...answers, again].map(({ body }) => body.runId));
    expect(ids.size).toBe(1);
    const newId = String(again.body.runId);
    expect(newId).not.toBe(runId);

    const [old, fresh] = await Promise.all(
      [runId, newId].map((id) => world.journal.find("intent", id, null, 0)),
    );
    if (old?.type !== "intent" || fresh?.type !== "intent") throw new Error("both have an intent");
    expect(fresh.body).toEqual({ ...old.body, retry_of: runId });
    expect(await types(runId)).toEqual(before);
  });

  test("a retry of a run of a race is no part of the race, which may be won since", async () => {
    const runId = await begin({ race: `race_${"r".repeat(20)}` });
    await world.call("POST", `/runs/${runId}/events`, { body: { event: "cancel" } });
    await eventually("closed", async () => (await types(runId)).includes("closed"));
    const newId = String((await say(runId, "retry")).body.runId);
    const races = await Promise.all(
      [runId, newId].map(async (id) => {
        const record = await world.journal.find("intent", id, null, 0);
        return record?.type === "intent" ? (record.body.options.race ?? null) : "no intent";
      }),
    );
    expect(races).toEqual([`race_${"r".repeat(20)}`, null]);
  });

  test("a retry, a fork and a heat of a bake-off name who chose the proof that they take over, by the records and not by their caller", async () => {
    const runId = await begin({ checks: [] });
    await eventually("asks", async () => (await types(runId)).includes("verdict"));
    await world.call("POST", `/runs/${runId}/events`, { body: { event: "answer", answers: ["true"] } });
    await world.call("POST", `/runs/${runId}/events`, { body: { event: "cancel" } });
    await eventually("closed", async () => (await types(runId)).includes("closed"));
    const retried = String((await say(runId, "retry")).body.runId);
    const fork = (run: string) => ({ run, task: "T-001", epoch: 1, calls: 0, feedback: [] });
    const heat = await begin({ again_of: retried });
    const runs = [retried, heat, await begin({ fork: fork(runId) }), await begin({ fork: fork(retried) })];
    for (const id of [runId, ...runs]) {
      const record = await world.journal.find("intent", id, null, 0);
      if (record?.type !== "intent") throw new Error("no intent");
      const { asked_by: asked, options } = record.body;
      expect([asked, options.checks]).toEqual(id === runId ? [undefined, []] : [["local"], ["true"]]);
    }
  });
});

describe("dead letters", () => {
  const letters = async () =>
    (await world.call("GET", "/v1/dead-letters")).body.letters as Record<string, unknown>[];

  test("a dead letter of an Associate is listed, shown, and handled again after a requeue", async () => {
    const runId = await begin();
    const seen: [string, number][] = [];
    const handle = (delivery: Delivery): Promise<Outcome> => {
      const { type, runId: of, epoch } = delivery.record;
      if (of === runId) seen.push([type, epoch]);
      const first = of === runId && seen.length === 1;
      return Promise.resolve(
        first ? { kind: "terminal", code: "ANT_INTERNAL", detail: "cannot be done here" } : { kind: "done" },
      );
    };
    const stop = new AbortController();
    const log = createLogger("test", { level: "silent" });
    const associate = consume(world.bus, {
      consumer: "associate",
      slots: 1,
      log,
      signal: stop.signal,
      handle: requeueing("associate", world.journal, handle),
    });
    try {
      const id = `associate.dispatch.${runId}.t-001.1`;
      await eventually("the letter is listed", async () =>
        (await letters()).some((letter) => letter.id === id),
      );
      const shown = await world.call("GET", `/v1/dead-letters/${id}`);
      expect(shown.body).toMatchObject({
        consumer: "associate",
        code: "ANT_INTERNAL",
        detail: "cannot be done here",
        runId,
        taskId: "t-001",
        epoch: 1,
      });

      const requeued = await world.call("POST", `/v1/dead-letters/${id}/requeue`);
      expect(requeued).toMatchObject({ status: 202, body: { accepted: true, runId, n: 1 } });
      await eventually("handled again", () => seen.length === 2);
      expect(seen).toEqual([
        ["dispatch", 1],
        ["dispatch", 1],
      ]);
      expect((await letters()).some((letter) => letter.id === id)).toBe(false);
      const twice = await world.call("POST", `/v1/dead-letters/${id}/requeue`);
      expect(twice.status).toBe(404);
      expect(errorOf(twice)).toMatchObject({ code: "ANT_DLQ_NOT_FOUND" });
      const record = await world.journal.find("requeue", runId, null, 1);
      expect(record?.body).toMatchObject({ consumer: "associate", code: "ANT_INTERNAL" });
    } finally {
      await associate.drain(1000);
    }
  });

  test("a task the Director gave up leaves one letter; its run is over, so the remedy is a retry", async () => {
    const runId = await begin();
    await poison(runId);
    const mine = (await letters()).filter((letter) => letter.runId === runId);
    expect(mine).toHaveLength(1);
    expect(mine[0]).toMatchObject({ code: "ANT_TASK_POISON", consumer: "associate", type: "dispatch" });
    const refused = await world.call("POST", `/v1/dead-letters/${String(mine[0]?.id)}/requeue`);
    expect(refused.status).toBe(409);
    expect(errorOf(refused)).toMatchObject({ code: "ANT_DLQ_RUN_OVER" });
    expect(String(errorOf(refused).remedy)).toContain("antiphon retry");
    expect((await say(runId, "retry")).status).toBe(202);
  });

  test("an invalid id finds nothing, regardless of its characters", async () => {
    for (const id of ["x", "*.*.*.*.*", "a.b.c.d.%3E", "%00"]) {
      const answer = await world.call("GET", `/dead-letters/${id}`);
      expect(errorOf(answer), id).toMatchObject({ code: "ANT_DLQ_NOT_FOUND" });
    }
  });
});

describe("admission", () => {
  test("gateway/G7: at the bound of open runs a new run gets 429 and no record; a closed run makes room, and the count survives a restart", async () => {
    const small = await openWorld({ openRuns: 3 });
    try {
      const intent = await small.call("POST", "/intents", { body: intentFor(repo.path) });
      const start = (headers: Record<string, string> = {}) =>
        small.call("POST", `/intents/${String(intent.body.intentId)}/run`, { headers });
      const burst = await Promise.all(Array.from({ length: 8 }, () => start()));
      const taken = burst.filter(({ status }) => status === 202);
      const refused = burst.filter(({ status }) => status === 429);
      expect([taken.length, refused.length]).toEqual([3, 5]);
      expect(errorOf(refused[0]!)).toMatchObject({ code: "ANT_GATEWAY_BUSY", limit: 3 });
      expect(Number(refused[0]!.headers["retry-after"])).toBeGreaterThan(0);
      const runs = async () => await small.journal.runIds();
      expect(new Set(await runs())).toEqual(new Set(taken.map(({ body }) => body.runId)));

      await small.nats.kill();
      await small.nats.restart();
      await eventually("it answers again", async () => [202, 429].includes((await start()).status), 20_000);
      await eventually("the test is connected again too", () => small.bus.connected);
      expect(await runs()).toHaveLength(3);

      const over = String(taken[0]!.body.runId);
      await small.call("POST", `/runs/${over}/events`, { body: { event: "cancel" } });
      await eventually("room again", async () => (await start()).status === 202, 20_000);
      expect(await runs()).toHaveLength(4);
    } finally {
      await small.close();
    }
  });
});

describe("places among the open runs", () => {
  let small: World;
  beforeAll(async () => {
    small = await openWorld({ openRuns: 3 });
  });
  afterAll(() => small.close());

  const gate = (): { readonly opened: Promise<void>; open(): void } => {
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    return { opened, open: () => open() };
  };
  const codeOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => null,
      (error: unknown) => (error as { code: string }).code,
    );

  test("gateway/G7: are held while their repositories are inspected, even if the journal is counted meanwhile", async () => {
    const repository = { name: "app", path: repo.path };
    const looked = await callRpc<object>(
      small.bus,
      subjects.repoInspect,
      { repo: repository, allow_dirty: false, image_named: false },
      { timeoutMs: 15_000 },
    );
    await small.stopDirector();
    const inspected = gate();
    let asked = 0;
    const stop = serveRpc(small.bus, subjects.repoInspect, "inspect", async () => {
      asked += 1;
      await inspected.opened;
      return looked;
    });
    await small.bus.nc.flush();
    const intent = await small.call("POST", "/intents", { body: intentFor(repo.path) });
    const start = () => small.call("POST", `/intents/${String(intent.body.intentId)}/run`);
    const first = Promise.all([start(), start(), start()]);
    await eventually("all are inspected", () => asked === 3);
    const counts = performance.now() + 2_500; // A count is good for a second.
    const refused: unknown[] = [];
    await eventually("the journal was counted again", async () => {
      refused.push((await start()).status);
      return performance.now() > counts;
    });
    expect(new Set(refused)).toEqual(new Set([429]));
    expect(asked).toBe(3);
    inspected.open();
    expect((await first).map(({ status }) => status)).toEqual([202, 202, 202]);
    expect((await start()).status).toBe(429);
    expect(await small.journal.runIds()).toHaveLength(3);
    await stop();
  });

  test("gateway/G7: include a run that is stored while the journal is counted, and count each place once", async () => {
    const already = await countOpenRuns(small.bus);
    const [counted, told] = [gate(), gate()];
    let looks = 0;
    const watch = new OpenRunsWatch(async () => {
      looks += 1;
      const isFirst = looks === 1;
      const count = await countOpenRuns(small.bus);
      counted.open();
      if (!isFirst) await told.opened;
      return count;
    }, already + 2);
    const place = await watch.admit();
    let waiting: ReturnType<typeof watch.admit> | undefined;
    await eventually("a second count is running", async () => {
      const next = watch.admit();
      if (looks > 1) waiting = next;
      else (await next).release();
      return waiting !== undefined;
    });
    await counted.opened;
    place.stored();
    told.open();
    const second = await waiting;
    expect(await codeOf(watch.admit())).toBe("ANT_GATEWAY_BUSY");
    second?.release();
    second?.release();
    second?.stored();
    expect(await codeOf(watch.admit())).toBe(null);
    expect(await codeOf(watch.admit())).toBe("ANT_GATEWAY_BUSY");
  });
});

describe("pause and resume", () => {
  test("nothing new is dispatched while a run is paused; the resume dispatches; each is recorded once", async () => {
    const runId = await begin();
    await eventually("dispatched", async () => (await types(runId)).includes("dispatch"));
    const held = await begin();
    const paused = await say(held, "pause", { reason: "freeze" });
    expect(paused).toMatchObject({ status: 202, body: { accepted: true, already: false, event: "pause" } });
    await settled();
    // If the run was dispatched before the pause reached the journal, there is nothing to hold back.
    const before = (await types(held)).filter((type) => type === "dispatch").length;
    const again = await say(held, "pause");
    expect(again).toMatchObject({ status: 202, body: { already: true } });
    expect((await types(held)).filter((type) => type === "control")).toHaveLength(1);

    // A lost attempt is retried at the next epoch, but not while the run is paused.
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

  test("many pause requests at once are recorded once", async () => {
    const runId = await begin();
    const answers = await Promise.all(Array.from({ length: 6 }, () => say(runId, "pause")));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(202));
    expect(answers.filter(({ body }) => body.already === false)).toHaveLength(1);
    expect((await types(runId)).filter((type) => type === "control")).toHaveLength(1);
  });

  test("a finished or unknown run and an invalid body are refused and write nothing", async () => {
    const runId = await begin();
    await world.call("POST", `/runs/${runId}/events`, { body: { event: "cancel" } });
    await eventually("closed", async () => (await types(runId)).includes("closed"));
    await settled(); // A plan the Router was at while the run was canceled may still come in.
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
