/** Timers of runs, kept by the real server. The test plays the Associate. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { golden } from "../../../contracts/conformance/proof.ts";
import { journalStream, partitionOf } from "@antiphon/contracts";
import type { ResultBody, StoredRecord, TimerAddress } from "@antiphon/contracts";
import {
  consume,
  consumeTimers,
  createLogger,
  openTimers,
  provision,
  readRuntimeConfig,
  startService,
} from "@antiphon/runtime";
import type { RunningService } from "@antiphon/runtime";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startRouter } from "../../../services/router/src/wiring.ts";
import { endOf, eventually, startNats } from "../../support/nats.ts";
import { cleanUpRepos, makeRepo } from "../../support/repo.ts";
import type { TestRepo } from "../../support/repo.ts";
import { intentFor, openWorld } from "../gateway/gateway-world.ts";
import type { World } from "../gateway/gateway-world.ts";
import { builtProgram } from "../../support/built-program.ts";

const log = createLogger("test", { level: "silent" });
let world: World;
let router: RunningService;
let repo: TestRepo;

const startRouterOn = (url: string): Promise<RunningService> =>
  startService(
    {
      name: "router",
      start: (context) => {
        const consumption = startRouter(context, 8);
        return Promise.resolve({ drain: () => consumption.drain() });
      },
    },
    readRuntimeConfig({ ANTIPHON_NATS_URL: url, ANTIPHON_UNSAFE_TRUST: "1" }),
    log,
  );

beforeAll(async () => {
  repo = makeRepo({ files: { "a.txt": "a\n" } });
  world = await openWorld({}, {}, { timers: { armAfterMs: 50, graceMs: 300, questionMs: 60_000 } });
  router = await startRouterOn(world.nats.url);
});

afterAll(async () => {
  await router.stop();
  await world.close();
  cleanUpRepos();
});

let goals = 0;

async function begin(on: World, constraints: Record<string, unknown>): Promise<string> {
  const body = {
    ...intentFor(repo.path, { checks: ["true"] }, constraints),
    goal: `Do it in time ${(goals += 1)}`,
  };
  const stored = await on.call("POST", "/intents", { body });
  const started = await on.call("POST", `/intents/${String(stored.body.intentId)}/run`);
  expect(started.status, started.text).toBe(202);
  return String(started.body.runId);
}

async function found(
  on: World,
  what: string,
  runId: string,
  wanted: (record: StoredRecord) => boolean,
): Promise<StoredRecord> {
  let record: StoredRecord | undefined;
  await eventually(what, async () => {
    record = (await on.journal.read(runId)).find(wanted);
    return record !== undefined;
  });
  return record!;
}

const closedOf = (on: World, runId: string) => found(on, "closed", runId, ({ type }) => type === "closed");
const dispatchAt = (runId: string, epoch: number) =>
  found(world, `dispatch ${epoch}`, runId, (record) => record.type === "dispatch" && record.epoch === epoch);
const attempt = (runId: string, epoch: number) => ({ runId, taskId: "T-001", epoch, cause: null });

const SCRIPT = new URL("../../support/director-process.ts", import.meta.url);

/** Starts a Director as a process of its own and waits until it serves, which takes long on a busy machine. */
async function direct(of: World, directors: ChildProcess[]): Promise<void> {
  const env = { ...process.env, ANTIPHON_NATS_URL: of.nats.url, ANTIPHON_UNSAFE_TRUST: "1" };
  const program = await builtProgram(SCRIPT);
  directors.push(spawn(process.execPath, [program], { env, stdio: "ignore" }));
  const isThere = async (): Promise<boolean> => {
    const { body } = await of.call("GET", "/services");
    return ((body.services ?? []) as { name: string }[]).some(({ name }) => name === "director");
  };
  await eventually("a Director serves", isThere, 60_000);
}

const endAll = async (children: readonly ChildProcess[]): Promise<void> => {
  await Promise.all(children.map((child) => endOf(child, "SIGKILL")));
};

describe("a run waits by the server's clock", () => {
  test("an Associate that hangs but still heartbeats loses its claim after budget and grace, and its late result is refused", async () => {
    const runId = await begin(world, { time_budget_s: 1 });
    let hang = (): void => undefined;
    const hung = new Promise<void>((resolve) => (hang = resolve));
    const stop = new AbortController();
    const deliveries: number[] = [];
    const associate = consume(world.bus, {
      consumer: "associate",
      slots: 1,
      log,
      signal: stop.signal,
      async handle(delivery) {
        if (delivery.record.runId !== runId || delivery.record.epoch !== 1) return { kind: "done" };
        deliveries.push(delivery.deliveries);
        const body = { associate: "as_hung", incarnation: "1" };
        await world.journal.append({ type: "claim", ...attempt(runId, 1), body });
        await hung;
        return { kind: "done" };
      },
    });
    try {
      const claim = await found(world, "claimed", runId, ({ type }) => type === "claim");
      const lapse = await found(world, "lapsed", runId, ({ type }) => type === "result");
      expect(lapse.body).toEqual({ kind: "lapsed", observer: "director", holder: "as_hung" });
      expect(lapse.cause).toEqual({ seq: claim.seq, digest: claim.digest });
      expect(lapse.at.getTime() - claim.at.getTime()).toBeGreaterThanOrEqual(1_300);
      await dispatchAt(runId, 2);
      expect(deliveries).toEqual([1]); // To the server it was alive all the time.
      const body: ResultBody = { kind: "abandoned", associate: "as_hung", code: "ANT_INTERNAL", message: "" };
      const late = await world.journal.append({ type: "result", ...attempt(runId, 1), body });
      expect(late.kind).toBe("conflict");
    } finally {
      hang();
      await associate.drain(1000);
    }
  });

  test("run/R1: after a first loss the attempt is dispatched at once, after the next ones with a backoff that is in the journal", async () => {
    const runId = await begin(world, {});
    const pauses: number[] = [];
    const dues: number[] = [];
    for (const epoch of [1, 2, 3]) {
      await dispatchAt(runId, epoch);
      const body = { kind: "lapsed" as const, observer: "as_test", holder: "as_gone" };
      await world.journal.append({ type: "result", ...attempt(runId, epoch), body });
      const result = await world.journal.find("result", runId, "T-001", epoch);
      const next = await dispatchAt(runId, epoch + 1);
      pauses.push(next.at.getTime() - result!.at.getTime());
      dues.push((await world.journal.read(runId)).filter(({ type }) => type === "due").length);
    }
    expect(pauses[1]).toBeGreaterThanOrEqual(1_000);
    expect(pauses[2]).toBeGreaterThanOrEqual(2_000);
    expect(dues).toEqual([0, 1, 2]);
  });

  test("a question without an answer in time ends its task with ANT_TASK_UNANSWERED", async () => {
    const runId = await begin(world, { question_timeout_s: 1 });
    await dispatchAt(runId, 1);
    const { body } = golden("journal.result.v1") as { body: Extract<ResultBody, { kind: "reported" }> };
    const result = { ...body.result, task_id: "T-001", status: "needs_input" as const, questions: ["UTC?"] };
    const asked = { ...body, kind: "reported" as const, result };
    await world.journal.append({ type: "result", ...attempt(runId, 1), body: asked });
    const closed = await closedOf(world, runId);
    expect(closed.body).toMatchObject({ status: "failed", code: "ANT_TASK_UNANSWERED" });
  });

  test("a run that spent its wall-clock budget fails with ANT_RUN_TIME_BUDGET and leaves no timer", async () => {
    const runId = await begin(world, { run_time_budget_s: 1 });
    const closed = await closedOf(world, runId);
    expect(closed.body).toMatchObject({ status: "failed", code: "ANT_RUN_TIME_BUDGET" });
    const cancel = await world.journal.find("cancel", runId, null, 0);
    expect(cancel?.body).toMatchObject({ by: "director", code: "ANT_RUN_TIME_BUDGET" });
    const { state } = await world.bus.jsm.streams.info("ANT_TIMERS", { subjects_filter: ">" });
    const left = Object.keys(state.subjects ?? {}).filter((subject) =>
      subject.includes(`set.budget.${runId}`),
    );
    expect(left).toEqual([]);
  });
});

test("a Director that is killed right after a loss leaves a timer, so the backoff ends", async () => {
  const fresh = await openWorld();
  const directors: ChildProcess[] = [];
  const fail = async (runId: string, epoch: number): Promise<StoredRecord> => {
    await found(fresh, `dispatch ${epoch}`, runId, (one) => one.type === "dispatch" && one.epoch === epoch);
    const body = { kind: "lapsed" as const, observer: "as_test", holder: "as_gone" };
    await fresh.journal.append({ type: "result", ...attempt(runId, epoch), body });
    return found(fresh, `result ${epoch}`, runId, (one) => one.type === "result" && one.epoch === epoch);
  };
  const router = await startRouterOn(fresh.nats.url);
  try {
    const runId = await begin(fresh, {});
    await fresh.stopDirector();
    await direct(fresh, directors);
    await fail(runId, 1);
    const lost = await fail(runId, 2); // From here on it waits out its backoff.
    const stream = journalStream(partitionOf(runId));
    await eventually("the loss is acknowledged", async () => {
      const { ack_floor } = await fresh.bus.jsm.consumers.info(stream, "director");
      return ack_floor.stream_seq >= lost.seq;
    });
    await endAll(directors); // Long before `timerArmMs` is over.
    await direct(fresh, directors);
    const next = await found(fresh, "dispatch 3", runId, (one) => one.type === "dispatch" && one.epoch === 3);
    expect(next.at.getTime() - lost.at.getTime()).toBeGreaterThanOrEqual(1_000);
  } finally {
    await router.stop();
    await endAll(directors);
    await fresh.close();
  }
});

test("every stored timer comes due, regardless of when the server is killed", async () => {
  const nats = await startNats();
  const stop = new AbortController();
  try {
    const bus = await nats.connect();
    await provision(bus);
    const due = new Set<string>();
    const handle = async ({ address }: { address: TimerAddress }) => {
      due.add(address.runId);
      return "done" as const;
    };
    consumeTimers(bus, { slots: 16, log, signal: stop.signal, handle });
    const timers = openTimers(bus);
    const stored: string[] = [];
    // Killed before, while and after timers fire, and down for longer than some of them run.
    for (const downMs of [0, 700, 0]) {
      const from = Date.now();
      for (let i = 0; i < 60; i += 1) {
        const runId = `run_${downMs}_${from}_${i}`;
        const address = { kind: "rest" as const, runId, taskId: "T-001", epoch: 3 };
        if (await timers.set(address, new Date(from + 300 + i * 20))) stored.push(runId);
      }
      const before = due.size;
      await eventually("some came due", () => due.size > before);
      await nats.kill();
      const downUntil = Date.now() + downMs;
      await eventually("it was down for that long", () => Date.now() >= downUntil);
      await nats.restart();
    }
    expect(stored).toHaveLength(180);
    await eventually("all came due", () => stored.every((runId) => due.has(runId)));
  } finally {
    stop.abort();
    await nats.close({ checkLeaks: false });
  }
});

test("timers survive kill -9 of the server and of every Director; those that came due meanwhile take effect on restart", async () => {
  const fresh = await openWorld();
  const directors: ChildProcess[] = [];
  try {
    await fresh.stopDirector(); // From here on the Directors are processes.
    await direct(fresh, directors);
    const router = await startRouterOn(fresh.nats.url);
    const runId = await begin(fresh, { run_time_budget_s: 8 });
    await eventually("the timer is on the server", async () => {
      const { state } = await fresh.bus.jsm.streams.info("ANT_TIMERS", { subjects_filter: ">" });
      return Object.keys(state.subjects ?? {}).some((subject) => subject.includes(`set.budget.${runId}`));
    });
    await endAll(directors);
    await router.stop();
    const opened = await fresh.journal.find("intent", runId, null, 0);
    await fresh.nats.kill();
    await eventually("the budget is spent", () => Date.now() > opened!.at.getTime() + 8_200);
    await fresh.nats.restart();
    await direct(fresh, directors);
    const closed = await closedOf(fresh, runId);
    expect(closed.body).toMatchObject({ status: "failed", code: "ANT_RUN_TIME_BUDGET" });
  } finally {
    await endAll(directors);
    await fresh.close();
  }
});
