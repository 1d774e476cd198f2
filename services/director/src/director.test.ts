import {
  AntiphonError,
  digestOf,
  type ClosedBody,
  type NewRecord,
  type StoredRecord,
  type VerdictBody,
} from "@antiphon/contracts";
import { createLogger } from "@antiphon/runtime";
import { MemoryJournal } from "@antiphon/runtime/testing/memory-journal";
import { MemoryKv } from "@antiphon/runtime/testing/memory-kv";
import { closedRecord, intentRecord } from "@antiphon/runtime/testing/records";
import { describe, expect, test, vi } from "vitest";
import { closingOf } from "./core/closing.ts";
import { effectKey, outstanding, type Effect } from "./core/outstanding.ts";
import type { RunState } from "./core/run-state.ts";
import { CausedRecords } from "./core/testing/caused-records.ts";
import { RecordLog, commitOf, planned } from "./core/testing/record-log.ts";
import { Director, type Performs } from "./director.ts";
import { Performer } from "./performer.ts";
import { Projector } from "./projector.ts";
import { RunCache } from "./run-cache.ts";
import { sweepForever } from "./sweeper.ts";
import { Turnstile } from "./turnstile.ts";

const POLICY = { maxAttempts: 3, maxLapses: 2, maxOutages: 3, maxIntegrations: 3 };
const turnstile = { passes: () => true };
const times = {
  note: () => undefined,
  drop: () => undefined,
  hold: () => Promise.resolve(),
  overdue: () => Promise.resolve(),
};
const log = createLogger("test", { level: "silent" });

/** Performs a dispatch by a body of its own; anything else is not asked for in these tests. */
function performs(body: (effect: Effect) => Promise<void>): Performs {
  return {
    async perform(run, effect, cause): Promise<NewRecord> {
      await body(effect);
      const dispatch = new RecordLog(run.runId).dispatched("T-001").records[0]!;
      if (dispatch.type !== "dispatch") throw new Error("unreachable");
      return { type: "dispatch", runId: run.runId, taskId: "T-001", epoch: 1, cause, body: dispatch.body };
    },
    refusal: () => null,
  };
}

function projectorOf(runs: RunCache): Projector {
  const buckets = { runs: new MemoryKv(), contracts: new MemoryKv() };
  return new Projector(buckets, (runId) => runs.load(runId), log);
}

async function begin(body: (effect: Effect) => Promise<void>) {
  const told: string[] = [];
  const journal = new MemoryJournal();
  const fixture = new RecordLog().opened([planned("T-001")]);
  for (const { type, runId, taskId, epoch, cause, body } of fixture.records) {
    await journal.append({ type, runId, taskId, epoch, cause, body } as NewRecord);
  }
  const records = await journal.read(fixture.runId);
  const runs = new RunCache(journal, POLICY);
  const projector = projectorOf(runs);
  const director = new Director({
    journal,
    runs,
    performer: performs(body),
    projector,
    times,
    turnstile,
    tell: ({ taskId }, text) => void told.push(`${taskId ?? "run"} ${text}`),
    log,
  });
  const deliver = (deliveries = 1) =>
    director.handle({ record: records[1]!, deliveries, signal: new AbortController().signal });
  const dispatches = async () =>
    (await journal.read(fixture.runId)).filter((record) => record.type === "dispatch").length;
  return { journal, runs, director, deliver, dispatches, told };
}

describe("Director", () => {
  test("D8 a delivery is done only when the record of its effect is stored", async () => {
    const { deliver, dispatches } = await begin(async () => undefined);
    expect(await deliver()).toEqual({ kind: "done" });
    expect(await dispatches()).toBe(1);
  });

  test("D8 an effect that fails asks for the delivery again, later each time, and stores nothing", async () => {
    const { deliver, dispatches } = await begin(() =>
      Promise.reject(new AntiphonError("ANT_SANDBOX_RUNNER_LOST", "gone")),
    );
    const first = await deliver(1);
    const fifth = await deliver(5);
    expect(first).toMatchObject({ kind: "retry", code: "ANT_SANDBOX_RUNNER_LOST" });
    expect(fifth.kind === "retry" && first.kind === "retry" && fifth.delayMs > first.delayMs).toBe(true);
    expect(await dispatches()).toBe(0);
  });

  test("D37 what keeps a run from going on is told live, with its remedy", async () => {
    const locked = new AntiphonError("ANT_LANDING_REF_LOCKED", "index.lock exists");
    const isLocked = `run ANT_LANDING_REF_LOCKED: index.lock exists; trying again. ${locked.remedy}`;
    const { deliver, told } = await begin(() => Promise.reject(locked));
    await deliver();
    await deliver(2);
    expect(told).toEqual([isLocked, "run taken up again", isLocked]);
  });

  test("D8 delivered again after a crash between the record and the acknowledgement, nothing happens twice", async () => {
    let asked = 0;
    const { deliver, dispatches } = await begin(async () => void (asked += 1));
    await deliver();
    expect(await deliver(2)).toEqual({ kind: "done" });
    expect({ asked, dispatches: await dispatches() }).toEqual({ asked: 1, dispatches: 1 });
  });

  test("D9 an effect under way is not started by a second delivery, and the first one still finishes it", async () => {
    let asked = 0;
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const { deliver, dispatches } = await begin(() => {
      asked += 1;
      return gate;
    });
    const first = deliver();
    const second = deliver(2);
    open();
    expect(await Promise.all([first, second])).toEqual([{ kind: "done" }, { kind: "done" }]);
    expect({ asked, dispatches: await dispatches() }).toEqual({ asked: 1, dispatches: 1 });
  });

  test("D9 the same record delivered again is not done before the effect is: both ask to come again when it fails", async () => {
    let fail = (): void => undefined;
    const gate = new Promise<void>((_, reject) => {
      fail = () => reject(new AntiphonError("ANT_SANDBOX_RUNNER_LOST"));
    });
    const { deliver } = await begin(() => gate);
    const first = deliver();
    const second = deliver(2);
    fail();
    expect((await Promise.all([first, second])).map(({ kind }) => kind)).toEqual(["retry", "retry"]);
  });
});

test("D6 D13 of two overlapping tasks the first proposal is verified, also by a Director that only heard the second", async () => {
  const journal = new MemoryJournal();
  const records = new CausedRecords(journal);
  const run = new RecordLog()
    .opened([planned("T-001"), planned("T-002")])
    .dispatched("T-001")
    .dispatched("T-002");
  await records.store(run.claimed("T-001").claimed("T-002"));
  const asked: string[] = [];
  const performer: Performs = {
    async perform(_run, effect): Promise<NewRecord> {
      asked.push(`${effect.kind} ${"taskId" in effect ? effect.taskId : "-"}`);
      throw new AntiphonError("ANT_SANDBOX_RUNNER_LOST"); // What it would find is not what is asked here.
    },
    refusal: () => null,
  };
  const runs = new RunCache(journal, POLICY);
  await runs.load(run.runId);
  const projector = projectorOf(runs);
  const director = new Director({
    journal,
    runs,
    performer,
    projector,
    times,
    turnstile,
    tell: () => undefined,
    log,
  });
  await records.store(run.reported("T-001", 1, "ok")); // Delivered to another Director.
  const [record] = await records.store(run.reported("T-002", 1, "ok"));
  if (record === undefined) throw new Error("not stored");
  await director.handle({ record, deliveries: 1, signal: new AbortController().signal });
  expect(asked).toEqual(["verify T-001"]);
});

describe("a dispatch that cannot be made", () => {
  /** Two tasks beside each other; `during` is what happens while the Director finds out that it cannot hand one out. */
  async function begin(during: (effect: Effect, records: CausedRecords, run: RecordLog) => Promise<void>) {
    const journal = new MemoryJournal();
    const records = new CausedRecords(journal);
    const run = new RecordLog().opened([planned("T-001"), planned("T-002")]);
    const stored = await records.store(run);
    const asked: string[] = [];
    const performer: Performs = {
      async perform(_run, effect, cause): Promise<NewRecord> {
        asked.push(`${effect.kind} ${"taskId" in effect ? effect.taskId : "-"}`);
        await during(effect, records, run);
        if (effect.kind === "dispatch") throw new AntiphonError("ANT_REPO_NOT_FOUND", "it is gone");
        if (effect.kind !== "verify") throw new AntiphonError("ANT_NATS_UNREACHABLE"); // As far as this goes here.
        const { type, runId, taskId, epoch, body } = new RecordLog(run.runId).judged("T-001", 1, {})
          .records[0]!;
        return { type, runId, taskId, epoch, cause, body } as NewRecord;
      },
      refusal: (...facts) => Performer.prototype.refusal(...facts),
    };
    const runs = new RunCache(journal, POLICY);
    const director = new Director({
      journal,
      runs,
      performer,
      projector: projectorOf(runs),
      times,
      turnstile,
      tell: () => undefined,
      log,
    });
    const deliver = (record: StoredRecord) =>
      director.handle({ record, deliveries: 1, signal: new AbortController().signal });
    const verdicts = async () =>
      (await journal.read(run.runId, ["verdict"])).map(({ taskId, body }) => [
        taskId,
        (body as VerdictBody).verdict,
      ]);
    return { records, run, routed: stored[1]!, deliver, asked, verdicts };
  }

  test("D33 what another Director has handed out meanwhile is not refused, and comes to its true verdict", async () => {
    const { records, run, routed, deliver, asked, verdicts } = await begin(async (effect, records, run) => {
      if (effect.kind !== "dispatch" || effect.taskId !== "T-001") return;
      await records.store(run.dispatched("T-001").dispatched("T-002"));
    });
    expect(await deliver(routed)).toEqual({ kind: "done" });
    expect(asked).toEqual(["dispatch T-001", "dispatch T-002"]);
    expect(await verdicts()).toEqual([]);
    const last = (await records.store(run.claimed("T-001").reported("T-001", 1, "ok"))).at(-1)!;
    await deliver(last);
    expect(await verdicts()).toEqual([["T-001", "PASS"]]);
  });

  test("D33 of two that are refused at once one ends the run, and the other is not said any more", async () => {
    const { routed, deliver, asked, verdicts } = await begin(async () => undefined);
    await deliver(routed);
    expect(await verdicts()).toEqual([["T-001", "UNVERIFIABLE"]]);
    expect(asked).toEqual(["dispatch T-001", "dispatch T-002", "close -"]);
  });
});

describe("a dispatch that is held back", () => {
  /** A batch run whose Director has asked once, and was told to wait. */
  async function begin(run: RecordLog, perform: (effect: Effect) => Promise<void>) {
    const journal = new MemoryJournal();
    await new CausedRecords(journal).store(run);
    const asked: string[] = [];
    const performer: Performs = {
      async perform({ runId }, effect, cause): Promise<NewRecord> {
        asked.push(effect.kind);
        await perform(effect);
        const made = new RecordLog(runId);
        if (effect.kind === "dispatch") made.dispatched(effect.taskId);
        else made.add("closed", null, 0, closingOf((await runs.load(runId)).snapshot.context));
        const { type, taskId, epoch, body } = made.records[0]!;
        return { type, runId, taskId, epoch, cause, body } as NewRecord;
      },
      refusal: (...facts) => Performer.prototype.refusal(...facts),
    };
    const runs = new RunCache(journal, POLICY);
    const turnstile: Turnstile = new Turnstile({
      backlog: () => Promise.resolve({ ready: 0, atWork: 0 }),
      now: () => 0,
      goOn: (runId) => director.goOn(runId, new AbortController().signal),
      onWaiting: () => undefined,
    });
    const projector = projectorOf(runs);
    const director = new Director({
      journal,
      runs,
      performer,
      projector,
      times,
      turnstile,
      tell: () => undefined,
      log,
    });
    const { context } = (await runs.load(run.runId)).snapshot;
    for (const effect of outstanding((await runs.load(run.runId)).snapshot))
      if (effect.kind === "dispatch") turnstile.passes(context, effectKey(run.runId, effect));
    return { turnstile, asked, last: () => journal.records.at(-1)?.type };
  }

  test("O6 its turn does not wait for a clean room of the same run, which is another delivery's", async () => {
    const run = new RecordLog()
      .opened([planned("T-001"), planned("T-002")], { priority: "batch" })
      .dispatched("T-001")
      .claimed("T-001")
      .reported("T-001", 1, "ok");
    const never = new Promise<void>(() => undefined);
    const { turnstile, asked, last } = await begin(run, ({ kind }) =>
      kind === "verify" ? never : Promise.resolve(),
    );
    expect(await turnstile.turn()).toBe("nothing");
    expect({ asked, last: last() }).toEqual({ asked: ["dispatch"], last: "dispatch" });
  });

  test("O6 where it is refused its run is closed, since no delivery would", async () => {
    const run = new RecordLog().opened([planned("T-001")], { priority: "batch" });
    const { turnstile, asked, last } = await begin(run, ({ kind }) =>
      kind === "dispatch" ? Promise.reject(new AntiphonError("ANT_REPO_NOT_FOUND")) : Promise.resolve(),
    );
    expect(await turnstile.turn()).toBe("nothing");
    expect({ asked, last: last() }).toEqual({ asked: ["dispatch", "close"], last: "closed" });
  });
});

describe("a Director that goes on by itself", () => {
  /** A run whose attempt was reported; the performer answers every effect at once. */
  async function reported(
    during: (effect: Effect, log: CausedRecords, run: RecordLog) => Promise<void>,
    look: (run: RunState, effect: Effect) => void = () => undefined,
  ) {
    const journal = new MemoryJournal();
    const records = new CausedRecords(journal);
    const run = new RecordLog()
      .opened([planned("T-001")])
      .dispatched("T-001")
      .claimed("T-001");
    const stored = await records.store(run.reported("T-001", 1, "ok"));
    const asked: string[] = [];
    const performer: Performs = {
      async perform(state, effect, cause): Promise<NewRecord> {
        const { runId } = state;
        asked.push(effect.kind);
        look(state, effect);
        await during(effect, records, run);
        const made = new RecordLog(runId);
        if (effect.kind === "verify") made.judged("T-001", 1, { commit: commitOf(1) });
        else if (effect.kind === "land") made.landed("T-001", 1, commitOf(1));
        else if (effect.kind === "close") made.add("closed", null, 0, closing as ClosedBody);
        const { type, taskId, epoch, body } = made.records[0]!;
        return { type, runId, taskId, epoch, cause, body } as NewRecord;
      },
      refusal: () => null,
    };
    const runs = new RunCache(journal, POLICY);
    const projector = projectorOf(runs);
    const director = new Director({
      journal,
      runs,
      performer,
      projector,
      times,
      turnstile,
      tell: () => undefined,
      log,
    });
    const deliver = (record: StoredRecord) =>
      director.handle({ record, deliveries: 1, signal: new AbortController().signal });
    return { stored, deliver, asked, types: () => journal.records.map(({ type }) => type) };
  }

  const closing = {
    status: "succeeded",
    code: null,
    message: "",
    contract: {
      status: "COMPLETE",
      workflow: "BUILD",
      tasks_completed: 1,
      tasks_total: 1,
      evidence: [],
      next_action: "none",
    },
    commit: commitOf(1),
    landedOn: "refs/heads/antiphon/run",
    seal: digestOf(new Uint8Array()),
  };

  test("D12 verifies, lands and closes in one delivery, and its records lead to each other", async () => {
    const { stored, deliver, asked, types } = await reported(async () => undefined);
    expect(await deliver(stored.at(-1)!)).toEqual({ kind: "done" });
    expect(asked).toEqual(["verify", "land", "close"]);
    expect(types().slice(-3)).toEqual(["verdict", "landing", "closed"]);
    expect(await deliver(stored.at(-1)!)).toEqual({ kind: "done" });
    expect(asked).toHaveLength(3);
  });

  test("D13 a cancel that is stored while the clean room works is seen before the landing", async () => {
    const { stored, deliver, asked, types } = await reported(async (effect, records, run) => {
      if (effect.kind === "verify") await records.store(run.canceled());
    });
    expect(await deliver(stored.at(-1)!)).toEqual({ kind: "done" });
    expect(asked).toEqual(["verify", "close"]);
    expect(types().slice(-3)).toEqual(["cancel", "verdict", "closed"]);
  });

  test("D13 a cancel that is stored while a closing is made up is seen before the run is closed", async () => {
    let closings = 0;
    const { stored, deliver, asked, types } = await reported(async (effect, records, run) => {
      if (effect.kind === "close" && (closings += 1) === 1) await records.store(run.canceled());
    });
    expect(await deliver(stored.at(-1)!)).toEqual({ kind: "done" });
    expect(asked).toEqual(["verify", "land", "close", "close"]);
    expect(types().slice(-3)).toEqual(["landing", "cancel", "closed"]);
  });

  test("D13 M6 a cancel that slips in before the landing, and that nobody tells of, is seen before the run is closed", async () => {
    const seen: boolean[] = [];
    const { stored, deliver, types } = await reported(
      async (effect, records, run) => {
        if (effect.kind === "land") await records.store(run.canceled());
      },
      (run, effect) => void (effect.kind === "close" && seen.push(run.cancel !== null)),
    );
    expect(await deliver(stored.at(-1)!)).toEqual({ kind: "done" });
    expect(types().slice(-3)).toEqual(["cancel", "landing", "closed"]);
    expect(seen).toEqual([true]);
  });

  test("D13 a run that moves each time is confirmed after the first time, so it ends", async () => {
    let pauses = 0;
    const { stored, deliver, types } = await reported(async (effect, records, run) => {
      if (effect.kind !== "close") return;
      pauses += 1;
      await records.store(run.add("control", null, pauses, { kind: "pause", by: "local" }));
    });
    expect(await deliver(stored.at(-1)!)).toEqual({ kind: "done" });
    expect(types().slice(-4)).toEqual(["landing", "control", "control", "closed"]);
  });

  test("D13 an intent or a claim alone makes the Director do nothing, and costs no read", async () => {
    const { stored, deliver, asked } = await reported(async () => undefined);
    for (const record of [stored[0]!, stored[3]!]) expect(await deliver(record)).toEqual({ kind: "done" });
    expect(asked).toEqual([]);
  });
});

describe("sweep", () => {
  const ALL = Number.MAX_SAFE_INTEGER;
  const inAMinute = (upTo: number) => async () => () => ({ at: new Date(Date.now() + 60_000), upTo });

  const sweepOnce = async (timing: { quietMs: number; patienceMs?: number }, upTo = ALL) => {
    const parts = await begin(async () => undefined);
    const stop = new AbortController();
    const sleep = async () => stop.abort();
    await sweepForever(
      { ...parts, times, log, progress: inAMinute(upTo), sleep },
      { everyMs: 1, patienceMs: 1_000_000, ...timing },
      stop.signal,
    );
    return parts.dispatches();
  };

  test("J10 finds a run that no delivery will move any more, and moves it", async () => {
    expect(await sweepOnce({ quietMs: 30_000 })).toBe(1);
  });

  test("D10 leaves a run alone whose last record is young", async () => {
    expect(await sweepOnce({ quietMs: 90_000 })).toBe(0);
  });

  test("D10 leaves the work of a run alone that may be under way, for as long as its patience", async () => {
    expect(await sweepOnce({ quietMs: 30_000, patienceMs: 90_000 }, 1)).toBe(0);
    expect(await sweepOnce({ quietMs: 30_000, patienceMs: 50_000 }, 1)).toBe(1);
    expect(await sweepOnce({ quietMs: 30_000, patienceMs: 90_000 }, 2)).toBe(1);
  });

  test("D23 a Director whose own clock is a day behind, or ahead, sweeps by the server's", async () => {
    for (const days of [-1, 1]) {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
      try {
        const parts = await begin(async () => undefined);
        const serverNow = Date.now() + 60_000;
        vi.setSystemTime(Date.now() + days * 86_400_000);
        const stop = new AbortController();
        const progress = async () => () => ({ at: new Date(serverNow), upTo: ALL });
        await sweepForever(
          { ...parts, times, log, progress, sleep: async () => stop.abort() },
          { everyMs: 1, quietMs: 30_000, patienceMs: 90_000 },
          stop.signal,
        );
        expect(await parts.dispatches()).toBe(1);
      } finally {
        vi.useRealTimers();
      }
    }
  });

  test("D20 D21 reads open runs only, and one that cannot be read does not keep the others from being swept", async () => {
    const parts = await begin(async () => undefined);
    const { journal } = parts;
    for (const runId of ["run_broken", "run_finished"]) await journal.append(intentRecord(runId));
    await journal.append(closedRecord("run_finished"));
    const reads: string[] = [];
    const read = journal.read.bind(journal);
    journal.read = (runId, ...rest) => {
      reads.push(runId);
      const broken = new AntiphonError("ANT_JOURNAL_CORRUPT", "seq 7");
      return runId === "run_broken" ? Promise.reject(broken) : read(runId, ...rest);
    };
    const stop = new AbortController();
    const sleep = async () => stop.abort();
    await sweepForever(
      { ...parts, times, log, progress: inAMinute(ALL), sleep },
      { everyMs: 1, quietMs: 30_000, patienceMs: 1_000_000 },
      stop.signal,
    );
    expect(reads).toContain("run_broken");
    expect(reads).not.toContain("run_finished");
    journal.read = read;
    expect(await parts.dispatches()).toBe(1);
  });
});
