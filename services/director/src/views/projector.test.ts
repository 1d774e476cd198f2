import { factsOf, runView, openRun, replay } from "@antiphon/run";
import type { Kv } from "@antiphon/runtime";
import { createLogger } from "@antiphon/runtime";
import { MemoryKv } from "@antiphon/runtime/testing/memory-kv";
import { expect, test } from "vitest";
import { RecordLog, planned } from "@antiphon/run/testing/record-log";
import { Projector } from "./projector.ts";
import type { CachedRun } from "../runs/cached-run.ts";
import { POLICY } from "../testing/directing.ts";

const log = createLogger("test", { level: "silent" });

function runOf(records: RecordLog): CachedRun {
  return { records: [...records.records], snapshot: replay(openRun(records.runId, POLICY), records.records) };
}

/** No other Director writes, so nothing is ever read. */
const unread = (): Promise<never> => Promise.reject(new Error("read"));

/** A bucket whose writes wait until `open`, and again after `close`. */
class SlowKv extends MemoryKv {
  writes = 0;
  open: () => void = () => undefined;
  #gate = Promise.resolve();

  constructor() {
    super();
    this.close();
  }

  close(): void {
    this.#gate = new Promise((resolve) => (this.open = resolve));
  }

  override async update(...args: Parameters<Kv["update"]>): Promise<number | null> {
    this.writes += 1;
    await this.#gate;
    return super.update(...args);
  }
}

test("director/D7: project() does not wait, and a run that changed meanwhile is written once, in its newest state", async () => {
  const runs = new SlowKv();
  const projector = new Projector({ runs, contracts: new MemoryKv() }, unread, log);
  const records = new RecordLog().opened([planned("T-001")]);
  await projector.project(runOf(records)); // Resolves although nothing can be written yet.
  for (const step of ["dispatched", "claimed"] as const) {
    records[step]("T-001");
    await projector.project(runOf(records));
  }
  records.reported("T-001", 1, "ok");
  await projector.project(runOf(records));
  runs.open();
  await projector.drain();
  expect(runs.writes).toBe(2); // As it was at first, and as it is now.
  const shown = await runs.get<{ steps: { phase: string }[] }>(records.runId);
  expect(shown?.value.steps[0]?.phase).toBe("verifying");
});

test("director/D7: with a full queue project() waits for one batch, not for all", async () => {
  const runs = new SlowKv();
  const projector = new Projector({ runs, contracts: new MemoryKv() }, unread, log);
  const { records } = new RecordLog().opened([planned("T-001")]);
  const run = (n: number): CachedRun => {
    const runId = `run_${n}`;
    const own = records.map((record) => ({ ...record, runId }));
    return { records: own, snapshot: replay(openRun(runId, POLICY), own) };
  };
  await projector.project(run(0));
  await Promise.resolve(); // Its batch has begun, so the next runs wait for another.
  for (let n = 1; n <= 5_000; n += 1) await projector.project(run(n));
  const beyond = projector.project(run(5_001));
  const letGo = runs.open;
  runs.close();
  letGo();
  await beyond;
  expect(runs.writes).toBeLessThan(5_000);
  runs.open();
  await projector.drain();
  expect(runs.writes).toBe(5_002);
});

test("director/D7: an older state that comes late does not replace a newer one", async () => {
  const [runs, contracts] = [new MemoryKv(), new MemoryKv()];
  const projector = new Projector({ runs, contracts }, unread, log);
  const records = new RecordLog().opened([planned("T-001")]);
  const before = runOf(records);
  records.dispatched("T-001");
  await projector.project(runOf(records));
  await projector.project(before);
  await projector.drain();
  const contract = await contracts.get<{ status: string; epoch: number }>(`${records.runId}.T-001`);
  expect(contract?.value.epoch).toBe(1);
});

test("director/D7: a Director that is overtaken by another writes the newest state of the run", async () => {
  const [runs, contracts] = [new MemoryKv(), new MemoryKv()];
  const records = new RecordLog().opened([planned("T-001")]);
  const [one, other] = [0, 1].map(
    () => new Projector({ runs, contracts }, () => Promise.resolve(runOf(records)), log),
  );
  const show = async (projector: Projector | undefined, run: CachedRun): Promise<void> => {
    await projector?.project(run);
    await projector?.drain();
  };
  await show(one, runOf(records));
  records.dispatched("T-001");
  records.claimed("T-001");
  const late = runOf(records);
  records.reported("T-001", 1, "ok");
  await show(other, runOf(records));
  await show(one, late);
  expect((await runs.get(records.runId))?.value).toEqual(runView(factsOf(records.records)));
  await show(other, runOf(records.judged("T-001", 1, { verdict: "FAIL" })));
  expect((await runs.get(records.runId))?.value).toEqual(runView(factsOf(records.records)));
});

test("a run's view is written after its contracts", async () => {
  const [runs, contracts] = [new MemoryKv(), new SlowKv()];
  const projector = new Projector({ runs, contracts }, unread, log);
  const records = new RecordLog().opened([planned("T-001")]);
  await projector.project(runOf(records));
  const shown = projector.drain();
  await new Promise(setImmediate); // A view that does not wait for the contracts would be written by now.
  expect([contracts.writes, await runs.get(records.runId)]).toEqual([2, null]);
  contracts.open();
  await shown;
  expect((await runs.get(records.runId))?.value).toEqual(runView(factsOf(records.records)));
});

test("a rewrite that another Director overtakes reads the run again", async () => {
  const [runs, contracts] = [new MemoryKv(), new MemoryKv()];
  const projector = new Projector({ runs, contracts }, unread, log);
  const records = new RecordLog().opened([planned("T-001")]);
  const older = runOf(records);
  records.dispatched("T-001");
  const newer = runOf(records);
  let loads = 0;
  const written = await projector.rewrite(records.runId, async () => {
    loads += 1;
    if (loads > 1) return newer;
    await new Projector({ runs, contracts }, unread, log).rewrite(records.runId, () =>
      Promise.resolve(newer),
    );
    return older; // Read before the newer record was stored.
  });
  expect([loads, written]).toEqual([2, []]);
  expect((await runs.get(records.runId))?.value).toEqual(runView(factsOf(newer.records)));
});
