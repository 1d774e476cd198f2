import {
  AntiphonError,
  digestOf,
  type ClosedBody,
  type NewRecord,
  type VerdictBody,
} from "@antiphon/contracts";
import { MemoryJournal } from "@antiphon/runtime/testing/memory-journal";
import { describe, expect, test } from "vitest";
import { closingOf, effectKey, outstanding, type Effect } from "@antiphon/run";
import type { RunState } from "@antiphon/run";
import { CausedRecords } from "../testing/caused-records.ts";
import { RecordLog, commitOf, planned } from "@antiphon/run/testing/record-log";
import type { Perform } from "../effects/effect-table.ts";
import { RunCache } from "../runs/run-cache.ts";
import { POLICY, directorOver, toDispatch } from "../testing/directing.ts";
import { AdmissionQueue } from "../admission/admission-queue.ts";

describe("Director", () => {
  test("director/D1: a delivery is done only when the record of its effect is stored", async () => {
    const { deliver, dispatches } = await toDispatch(async () => undefined);
    expect(await deliver()).toEqual({ kind: "done" });
    expect(await dispatches()).toBe(1);
  });

  test("director/D1: a failed effect stores nothing and has its delivery redelivered, later each time", async () => {
    const { deliver, dispatches } = await toDispatch(() =>
      Promise.reject(new AntiphonError("ANT_SANDBOX_RUNNER_LOST", "gone")),
    );
    const first = await deliver(1);
    const fifth = await deliver(5);
    expect(first).toMatchObject({ kind: "retry", code: "ANT_SANDBOX_RUNNER_LOST" });
    expect(fifth.kind === "retry" && first.kind === "retry" && fifth.delayMs > first.delayMs).toBe(true);
    expect(await dispatches()).toBe(0);
  });

  test("director/D1: a landing whose race stays undecided is left to the sweeps, before it is delivered too often", async () => {
    const undecided = new AntiphonError("ANT_RACE_UNDECIDED", "run_a holds race_1 and has not ended");
    const { deliver } = await toDispatch(() => Promise.reject(undecided));
    for (let deliveries = 1; deliveries < 10; deliveries += 1)
      expect(await deliver(deliveries)).toMatchObject({ kind: "retry", code: "ANT_RACE_UNDECIDED" });
    expect(await deliver(10)).toEqual({ kind: "done" });
  });

  test("the reason why a run is blocked is published live, with its remedy", async () => {
    const locked = new AntiphonError("ANT_LANDING_REF_LOCKED", "index.lock exists");
    const isLocked = `run ANT_LANDING_REF_LOCKED: index.lock exists; trying again. ${locked.remedy}`;
    const { deliver, told } = await toDispatch(() => Promise.reject(locked));
    await deliver();
    await deliver(2);
    expect(told).toEqual([isLocked, "run delivered again; resuming", isLocked]);
  });

  test("director/D1: a redelivery after a crash between record and acknowledgement repeats nothing", async () => {
    let asked = 0;
    const { deliver, dispatches } = await toDispatch(async () => void (asked += 1));
    await deliver();
    expect(await deliver(2)).toEqual({ kind: "done" });
    expect({ asked, dispatches: await dispatches() }).toEqual({ asked: 1, dispatches: 1 });
  });

  test("director/D1: a second delivery does not start an effect under way, and the first one finishes it", async () => {
    let asked = 0;
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const { deliver, dispatches } = await toDispatch(() => {
      asked += 1;
      return gate;
    });
    const first = deliver();
    const second = deliver(2);
    open();
    expect(await Promise.all([first, second])).toEqual([{ kind: "done" }, { kind: "done" }]);
    expect({ asked, dispatches: await dispatches() }).toEqual({ asked: 1, dispatches: 1 });
  });

  test("director/D1: a redelivered record waits for its effect; if that fails, both deliveries come again", async () => {
    let fail = (): void => undefined;
    const gate = new Promise<void>((_, reject) => {
      fail = () => reject(new AntiphonError("ANT_SANDBOX_RUNNER_LOST"));
    });
    const { deliver } = await toDispatch(() => gate);
    const first = deliver();
    const second = deliver(2);
    fail();
    expect((await Promise.all([first, second])).map(({ kind }) => kind)).toEqual(["retry", "retry"]);
  });
});

test("director/D3: of two overlapping tasks the first proposal is verified, also by a Director that received only the second", async () => {
  const journal = new MemoryJournal();
  const records = new CausedRecords(journal);
  const run = new RecordLog()
    .opened([planned("T-001"), planned("T-002")])
    .dispatched("T-001")
    .dispatched("T-002");
  await records.store(run.claimed("T-001").claimed("T-002"));
  const asked: string[] = [];
  const perform: Perform = async (_run, effect) => {
    asked.push(`${effect.kind} ${effect.taskId ?? "-"}`);
    throw new AntiphonError("ANT_SANDBOX_RUNNER_LOST"); // The verdict does not matter here.
  };
  const { runs, deliver } = directorOver(journal, perform);
  await runs.load(run.runId);
  await records.store(run.reported("T-001", 1, "ok")); // Delivered to another Director.
  const [record] = await records.store(run.reported("T-002", 1, "ok"));
  if (record === undefined) throw new Error("not stored");
  await deliver(record);
  expect(asked).toEqual(["verify T-001"]);
});

describe("a dispatch that fails for good", () => {
  /** Two independent tasks; `during` runs while the Director finds that it cannot dispatch one. */
  async function begin(during: (effect: Effect, records: CausedRecords, run: RecordLog) => Promise<void>) {
    const journal = new MemoryJournal();
    const records = new CausedRecords(journal);
    const run = new RecordLog().opened([planned("T-001"), planned("T-002")]);
    const stored = await records.store(run);
    const asked: string[] = [];
    const perform: Perform = async (_run, effect, cause) => {
      asked.push(`${effect.kind} ${effect.taskId ?? "-"}`);
      await during(effect, records, run);
      if (effect.kind === "dispatch") throw new AntiphonError("ANT_REPO_NOT_FOUND", "it is gone");
      if (effect.kind !== "verify") throw new AntiphonError("ANT_NATS_UNREACHABLE"); // The test ends here.
      const { type, runId, taskId, epoch, body } = new RecordLog(run.runId).judged("T-001", 1, {})
        .records[0]!;
      return { type, runId, taskId, epoch, cause, body } as NewRecord;
    };
    const { deliver } = directorOver(journal, perform);
    const verdicts = async () =>
      (await journal.read(run.runId, ["verdict"])).map(({ taskId, body }) => [
        taskId,
        (body as VerdictBody).verdict,
      ]);
    return { records, run, routed: stored[1]!, deliver, asked, verdicts };
  }

  test("director/D1: an attempt that another Director dispatched meanwhile is not refused and gets its true verdict", async () => {
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

  test("of two dispatches refused at once one ends the run, and the other refusal is not stored", async () => {
    const { routed, deliver, asked, verdicts } = await begin(async () => undefined);
    await deliver(routed);
    expect(await verdicts()).toEqual([["T-001", "UNVERIFIABLE"]]);
    expect(asked).toEqual(["dispatch T-001", "dispatch T-002", "close -"]);
  });
});

describe("a dispatch that waits for admission", () => {
  /** A batch run whose Director asked once for admission and has to wait. */
  async function begin(run: RecordLog, work: (effect: Effect) => Promise<void>) {
    const journal = new MemoryJournal();
    await new CausedRecords(journal).store(run);
    const asked: string[] = [];
    const perform: Perform = async ({ runId }, effect, cause) => {
      asked.push(effect.kind);
      await work(effect);
      const made = new RecordLog(runId);
      if (effect.kind === "dispatch") made.dispatched(effect.taskId);
      else made.add("closed", null, 0, closingOf((await runs.load(runId)).snapshot.context));
      const { type, taskId, epoch, body } = made.records[0]!;
      return { type, runId, taskId, epoch, cause, body } as NewRecord;
    };
    const runs = new RunCache(journal, POLICY);
    const admission: AdmissionQueue = new AdmissionQueue({
      backlog: () => Promise.resolve({ ready: 0, atWork: 0 }),
      now: () => 0,
      admit: (runId) => director.dispatchAdmitted(runId, new AbortController().signal),
      onWaiting: () => undefined,
    });
    const { director } = directorOver(journal, perform, { runs, admission });
    const { context } = (await runs.load(run.runId)).snapshot;
    for (const effect of outstanding((await runs.load(run.runId)).snapshot))
      if (effect.kind === "dispatch") admission.admits(context, effectKey(run.runId, effect));
    return { admission, asked, last: () => journal.records.at(-1)?.type };
  }

  test("is admitted without waiting for a clean room of its run, which belongs to another delivery", async () => {
    const run = new RecordLog()
      .opened([planned("T-001"), planned("T-002")], { priority: "batch" })
      .dispatched("T-001")
      .claimed("T-001")
      .reported("T-001", 1, "ok");
    const never = new Promise<void>(() => undefined);
    const { admission, asked, last } = await begin(run, ({ kind }) =>
      kind === "verify" ? never : Promise.resolve(),
    );
    expect(await admission.turn()).toBe("nothing");
    expect({ asked, last: last() }).toEqual({ asked: ["dispatch"], last: "dispatch" });
  });

  test("closes its run if it is refused, because no delivery would", async () => {
    const run = new RecordLog().opened([planned("T-001")], { priority: "batch" });
    const { admission, asked, last } = await begin(run, ({ kind }) =>
      kind === "dispatch" ? Promise.reject(new AntiphonError("ANT_REPO_NOT_FOUND")) : Promise.resolve(),
    );
    expect(await admission.turn()).toBe("nothing");
    expect({ asked, last: last() }).toEqual({ asked: ["dispatch", "close"], last: "closed" });
  });
});

describe("a Director that continues on its own records", () => {
  /** A run whose attempt was reported; the effect runner answers at once. */
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
    const perform: Perform = async (state, effect, cause) => {
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
    };
    const { deliver } = directorOver(journal, perform);
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

  test("director/D1: verifies, lands and closes in one delivery", async () => {
    const { stored, deliver, asked, types } = await reported(async () => undefined);
    expect(await deliver(stored.at(-1)!)).toEqual({ kind: "done" });
    expect(asked).toEqual(["verify", "land", "close"]);
    expect(types().slice(-3)).toEqual(["verdict", "landing", "closed"]);
    expect(await deliver(stored.at(-1)!)).toEqual({ kind: "done" });
    expect(asked).toHaveLength(3);
  });

  test("director/D3: a cancel stored while the clean room works prevents the landing", async () => {
    const { stored, deliver, asked, types } = await reported(async (effect, records, run) => {
      if (effect.kind === "verify") await records.store(run.canceled());
    });
    expect(await deliver(stored.at(-1)!)).toEqual({ kind: "done" });
    expect(asked).toEqual(["verify", "close"]);
    expect(types().slice(-3)).toEqual(["cancel", "verdict", "closed"]);
  });

  test("director/D3: a cancel stored while a closing is prepared is read before the run is closed", async () => {
    let closings = 0;
    const { stored, deliver, asked, types } = await reported(async (effect, records, run) => {
      if (effect.kind === "close" && (closings += 1) === 1) await records.store(run.canceled());
    });
    expect(await deliver(stored.at(-1)!)).toEqual({ kind: "done" });
    expect(asked).toEqual(["verify", "land", "close", "close"]);
    expect(types().slice(-3)).toEqual(["landing", "cancel", "closed"]);
  });

  test("director/D3: a cancel stored just before the landing record, of which no delivery tells, is read before the run is closed", async () => {
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

  test("a run that moves during each closing is confirmed after the first time, so it ends", async () => {
    let pauses = 0;
    const { stored, deliver, types } = await reported(async (effect, records, run) => {
      if (effect.kind !== "close") return;
      pauses += 1;
      await records.store(run.add("control", null, pauses, { kind: "pause", by: "local" }));
    });
    expect(await deliver(stored.at(-1)!)).toEqual({ kind: "done" });
    expect(types().slice(-4)).toEqual(["landing", "control", "control", "closed"]);
  });

  test("an intent or a claim alone triggers no effect", async () => {
    const { stored, deliver, asked } = await reported(async () => undefined);
    for (const record of [stored[0]!, stored[3]!]) expect(await deliver(record)).toEqual({ kind: "done" });
    expect(asked).toEqual([]);
  });
});

test("the projection of a run follows the claim of an attempt while the attempt is running", async () => {
  const { journal, deliver, hear, projector, views } = await toDispatch(async () => undefined);
  await deliver();
  const dispatch = (await journal.read("run_test0000000000000000")).at(-1)!;
  const body = { associate: "associate_1", incarnation: "i" };
  const { seq, digest } = dispatch;
  const { runId, taskId, epoch } = dispatch;
  const claim: NewRecord = { type: "claim", runId, taskId, epoch, cause: { seq, digest }, body };
  await journal.append(claim);
  expect(await hear((await journal.read(runId)).at(-1)!)).toEqual({ kind: "done" });
  await projector.drain();
  expect((await views.get(runId))?.value).toMatchObject({ steps: [{ phase: "claimed", epoch: 1 }] });
});
