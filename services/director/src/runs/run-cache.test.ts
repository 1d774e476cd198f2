import type { JournalType, StoredRecord } from "@antiphon/contracts";
import { WORDS_FROM_OUTSIDE } from "@antiphon/contracts";
import { MemoryJournal } from "@antiphon/runtime/testing/memory-journal";
import { expect, test } from "vitest";
import { CausedRecords } from "../testing/caused-records.ts";
import { RecordLog, planned } from "@antiphon/run/testing/record-log";
import { openRun, replay } from "@antiphon/run";
import { RunCache } from "./run-cache.ts";
import { POLICY } from "../testing/directing.ts";

const T1 = "T-001";
const T2 = "T-002";

/** A journal that remembers its reads. */
class ReadJournal extends MemoryJournal {
  readonly reads: (readonly JournalType[] | "all")[] = [];

  override read(runId: string, types?: readonly JournalType[]): Promise<StoredRecord[]> {
    this.reads.push(types ?? "all");
    return super.read(runId, types);
  }
}

async function begin(log: RecordLog) {
  const journal = new ReadJournal();
  const records = new CausedRecords(journal);
  return { journal, records, stored: await records.store(log), runs: new RunCache(journal, POLICY) };
}

const attempt = (log: RecordLog, task: string): RecordLog =>
  log.dispatched(task).claimed(task).reported(task, 1, "ok");

test("records that lead to each other are folded without a read, to the same state as a replay", async () => {
  const { journal, stored, runs } = await begin(attempt(new RecordLog().opened([planned(T1)]), T1));
  const folded = stored.map((record) => runs.fold(record));
  expect(journal.reads).toEqual([]);
  const whole = replay(openRun(stored[0]!.runId, POLICY), stored);
  expect(folded.at(-1)?.snapshot.context).toEqual(whole.context);
  expect(runs.fold(stored[2]!)?.records).toHaveLength(stored.length); // A second time changes nothing.
});

test("a record without a cause, or whose cause is not folded, needs a read", async () => {
  const log = attempt(new RecordLog().opened([planned(T1)]), T1).canceled();
  const { stored, runs } = await begin(log);
  const [intent, routed, dispatch, claim, result, cancel] = stored;
  expect(runs.fold(routed!)).toBeNull();
  runs.fold(intent!);
  runs.fold(routed!);
  expect([claim, result, cancel].map((record) => runs.fold(record!))).toEqual([null, null, null]);
  expect(runs.fold(dispatch!)?.records).toHaveLength(3);
});

test("a record that comes late is folded at its place in the stream", async () => {
  const log = attempt(new RecordLog().opened([planned(T1), planned(T2)]), T1);
  const { stored, runs, records } = await begin(log);
  const more = await records.store(log.dispatched(T2).judged(T1, 1, {}));
  for (const record of [...stored, more[1]!]) runs.fold(record);
  expect(runs.fold(more[0]!)).toBeNull(); // The verdict after it is folded already, so the fold has to start anew.
  const run = await runs.load(log.runId, more[0]);
  expect(run.records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(run.snapshot.context).toEqual(replay(openRun(log.runId, POLICY), [...stored, ...more]).context);
});

test("a chain of tasks is confirmed by reading the words from outside alone; a new one makes it read the run", async () => {
  const log = attempt(new RecordLog().opened([planned(T1), planned(T2, [T1])]), T1);
  const { journal, stored, runs, records } = await begin(log);
  let run = stored.map((record) => runs.fold(record)).at(-1)!;
  run = await runs.confirm(run);
  expect(journal.reads).toEqual([WORDS_FROM_OUTSIDE]);
  await records.store(log.canceled());
  const confirmed = await runs.confirm(run);
  expect(confirmed.snapshot.context.cancel).not.toBeNull();
  expect(confirmed.snapshot.value).toBe("settled");
});

test("a run whose tasks overlap is confirmed by reading all its records, those of another Director too", async () => {
  const log = attempt(new RecordLog().opened([planned(T1), planned(T2)]), T1);
  const { journal, stored, runs, records } = await begin(log);
  const run = stored.map((record) => runs.fold(record)).at(-1)!;
  await records.store(log.dispatched(T2));
  const confirmed = await runs.confirm(run);
  expect(journal.reads).toEqual(["all"]);
  expect(confirmed.snapshot.context.tasks[1]?.phase.kind).toBe("dispatched");
});

test("every record type from outside is read to confirm a run", () => {
  const ledTo = ["intent", "routed", "dispatch", "claim", "result", "verdict", "landing", "closed"];
  expect(WORDS_FROM_OUTSIDE).toEqual(expect.arrayContaining(["cancel", "input", "control"]));
  expect(WORDS_FROM_OUTSIDE.filter((type) => ledTo.includes(type))).toEqual([]);
});

test("records from the server replace the remembered ones and their times; later ones stay", async () => {
  const { stored, runs } = await begin(attempt(new RecordLog().opened([planned(T1)]), T1));
  const aDayAhead = (record: StoredRecord): StoredRecord => ({
    ...record,
    at: new Date(record.at.getTime() + 86_400_000),
  });
  for (const record of stored) runs.fold(aDayAhead(record));
  const told = stored.slice(0, -1);
  const run = runs.retold(stored[0]!.runId, told);
  expect(run.records.map(({ seq }) => seq)).toEqual(stored.map(({ seq }) => seq));
  expect(run.records.slice(0, -1)).toEqual(told);
  expect(runs.retold(stored[0]!.runId, stored).snapshot.context).toEqual(
    replay(openRun(stored[0]!.runId, POLICY), stored).context,
  );
});

test("a record that the journal lost and has again is remembered once, at its new place", async () => {
  const { journal, stored, runs } = await begin(attempt(new RecordLog().opened([planned(T1)]), T1));
  for (const record of stored) runs.fold(record);
  const [last] = stored.slice(-1);
  const again = { ...last!, seq: last!.seq + 3 };
  journal.read = () => Promise.resolve([...stored.slice(0, -1), again]);
  const run = await runs.load(again.runId);
  expect(run.records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, again.seq]);
  expect(run.snapshot.context.digests).toEqual(stored.map(({ digest }) => digest));
});
