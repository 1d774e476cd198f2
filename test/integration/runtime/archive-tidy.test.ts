/** Tests the removal of what archiving leaves behind: packs nobody points to, and documents of archived runs. */
import { BUCKETS, journalStream, subjects, type StoredRecord } from "@antiphon/contracts";
import {
  createLogger,
  openJournal,
  openKv,
  openRunArchive,
  openRunRestore,
  provision,
} from "@antiphon/runtime";
import type { Bus, Clock, Journal, PackedRun, RunArchive } from "@antiphon/runtime";
import { finishRun, openRun } from "@antiphon/runtime/testing/finished-run";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { archiveRound } from "../../../services/director/src/upkeep/archiver.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";

const STREAM = journalStream(0);
const PACKS = "OBJ_ANT_ARCHIVE";
const YEARS_MS = 10 * 365 * 86_400_000;
const log = createLogger("test", { level: "silent" });
let server: NatsServer;
let bus: Bus;
let journal: Journal;
let count = 0;

beforeAll(async () => {
  server = await startNats();
  bus = await server.connect();
  await provision(bus);
  journal = openJournal(bus);
});
afterAll(() => server.close());
/** Each test starts with an empty pack store. */
beforeEach(async () => {
  await archive(await archiver().due(soon(), 1000, new Set()));
  await archiver().tidy(soon());
});

const soon = (): Date => new Date(Date.now() + 60_000);
const archiver = (on: Bus = bus): RunArchive => openRunArchive(on, openJournal(on));

async function finished(): Promise<{ runId: string; before: StoredRecord[] }> {
  const runId = `run_tidy${(count += 1)}`;
  await finishRun(journal, runId);
  return { runId, before: await journal.read(runId) };
}

async function recorded(runIds: readonly string[], own = archiver()): Promise<PackedRun[]> {
  return own.record(await own.pack(runIds, soon()));
}

async function archive(runIds: readonly string[]): Promise<void> {
  const own = archiver();
  await own.purge(await recorded(runIds, own));
}

async function live(runId: string): Promise<string[]> {
  const messages = await bus.reader.multiLast(STREAM, [subjects.runInPartition(runId, 1)]);
  return messages.map(({ subject }) => subject.split(".")[4] ?? "");
}

/** Messages of the pack store: two per pack in these tests. */
const shelved = async (): Promise<number> => (await bus.jsm.streams.info(PACKS)).state.messages;

/** A bus that runs a callback right before the first message is deleted. */
function before(deed: () => Promise<void>): Bus {
  const { streams } = bus.jsm;
  let done = false;
  const deleteMessage: typeof streams.deleteMessage = async (...asked) => {
    if (!done) {
      done = true;
      await deed();
    }
    return streams.deleteMessage(...asked);
  };
  const jsm = {
    streams: Object.create(streams, { deleteMessage: { value: deleteMessage } }) as typeof streams,
  };
  return Object.create(bus, { jsm: { value: jsm } }) as Bus;
}

async function documents(runId: string): Promise<string[]> {
  const views = await openKv(bus, BUCKETS.runs).get(runId);
  const contracts = await openKv(bus, BUCKETS.contracts).keys(runId);
  const calls = await openKv(bus, BUCKETS.budgets).keys(runId);
  return [...(views === null ? [] : [runId]), ...contracts, ...calls].sort();
}

async function document(runId: string): Promise<void> {
  await openKv(bus, BUCKETS.runs).put(runId, { runId });
  for (const name of ["router", "T-001"]) await openKv(bus, BUCKETS.contracts).put(`${runId}.${name}`, {});
  await openKv(bus, BUCKETS.budgets).put(`${runId}.T-001.1`, { calls: [] });
  await openKv(bus, BUCKETS.budgets).put(runId, {}); // The account, which stays.
}

describe("packs nobody points to", () => {
  test("removes an old pack that a dead archiver stored, and nothing is lost", async () => {
    const [one, two] = [await finished(), await finished()];
    const dying = await server.connect();
    const at = await shelved();
    await archiver(dying).pack([one.runId], soon());
    await dying.close();
    const early = await archiver().tidy(new Date(Date.now() - 60_000));
    expect(early.packs).toEqual([]);
    expect(await shelved()).toBe(at + 2);
    await archive([one.runId, two.runId]);
    const { packs, kept } = await archiver().tidy(soon());
    expect([packs.length, kept]).toEqual([1, []]);
    expect(await shelved()).toBe(at + 2);
    for (const { runId, before: records } of [one, two]) {
      expect(await live(runId)).toEqual(["archived"]);
      expect(await openJournal(await server.connect()).read(runId)).toEqual(records);
    }
    expect((await archiver().tidy(soon())).packs).toEqual([]);
  });

  test("removes the pack of a run that was archived anew once nobody else needs it", async () => {
    const [one, two] = [await finished(), await finished()];
    await archive([one.runId, two.runId]);
    const at = await shelved();
    await openRunRestore(bus, journal).restore(one.runId, "me");
    await archive([one.runId]);
    expect((await archiver().tidy(soon())).packs).toEqual([]);
    await openRunRestore(bus, journal).restore(two.runId, "me");
    await archive([two.runId]);
    expect((await archiver().tidy(soon())).packs).toHaveLength(1);
    expect(await shelved()).toBe(at + 2);
    for (const { runId, before: records } of [one, two]) expect(await journal.read(runId)).toEqual(records);
  });

  test("keeps and reports a pack that alone holds a run, once per process", async () => {
    const { runId } = await finished();
    await archive([runId]);
    const [record] = await bus.reader.multiLast(STREAM, [subjects.runInPartition(runId, 1)]);
    await bus.jsm.streams.deleteMessage(STREAM, record?.seq ?? 0);
    const own = archiver();
    const { packs, kept } = await own.tidy(soon());
    expect(packs).toEqual([]);
    expect(kept).toMatchObject([{ detail: `it holds the only complete copy of ${runId}` }]);
    expect((await own.tidy(soon())).kept).toEqual([]);
    expect((await archiver().tidy(soon())).kept).toHaveLength(1);
  });

  test("keeps and reports a pack that cannot be read", async () => {
    const { runId } = await finished();
    const [run] = await recorded([runId]);
    await bus.jsm.streams.purge(PACKS, { filter: "$O.ANT_ARCHIVE.C.>" });
    const { packs, kept } = await archiver().tidy(soon());
    expect(packs).toEqual([]);
    expect(kept.map(({ pack }) => pack)).toContain(run?.pack.name);
    await bus.jsm.streams.purge(PACKS); // The other tests need readable packs.
  });

  test("runtime/J10: a pack that an archiver relies on is not removed by one that was about to", async () => {
    const { runId, before: records } = await finished();
    const own = archiver();
    const packed = await own.pack([runId], soon());
    const slow = before(async () => {
      await own.purge(await own.record(packed));
    });
    expect((await archiver(slow).tidy(soon())).packs).toEqual([]);
    expect(await live(runId)).toEqual(["archived"]);
    expect(await openJournal(await server.connect()).read(runId)).toEqual(records);
  });

  test("runtime/J10: if a pack disappears, the archiver purges nothing and packs the run anew", async () => {
    const { runId, before: records } = await finished();
    const own = archiver();
    const packed = await own.pack([runId], soon());
    let runs: PackedRun[] = [];
    const slow = before(async () => {
      runs = await own.record(packed);
    });
    expect((await archiver(slow).tidy(soon())).packs).toHaveLength(1);
    expect(await own.purge(runs)).toBe(0);
    expect(await live(runId)).toHaveLength(9);
    expect(await openJournal(await server.connect()).read(runId)).toEqual(records);
    expect(await archiver().due(soon(), 1000, new Set())).toContain(runId);
    await archive([runId]);
    expect(await live(runId)).toEqual(["archived"]);
    expect(await journal.find("archived", runId, null, 2)).not.toBeNull();
    expect(await openJournal(await server.connect()).read(runId)).toEqual(records);
  });

  test("archivers and tidiers at once, without a minimum age, leave every run whole, in one pack each", async () => {
    for (let round = 0; round < 12; round += 1) {
      const runs = await Promise.all(Array.from({ length: 4 }, finished));
      const ids = runs.map(({ runId }) => runId);
      const dead = archiver();
      await dead.pack(ids, soon()); // All of them will store this pack again.
      const tidying = async (): Promise<void> => {
        for (let i = 0; i < 6; i += 1) await archiver().tidy(soon());
      };
      const archiving = async (some: readonly string[]): Promise<void> => {
        // A pack may be removed between the store and the read-back; the next round then packs again.
        await archive(some).catch((error: unknown) => {
          if ((error as { code?: string }).code !== "ANT_ARCHIVE_CORRUPT") throw error;
        });
      };
      await Promise.all([archiving(ids), tidying(), archiving(ids), tidying(), archiving(ids.toReversed())]);
      for (const { runId, before: records } of runs) expect(await journal.read(runId)).toEqual(records);
      await archive(ids);
      await archiver().tidy(soon());
      const fresh = openJournal(await server.connect());
      for (const { runId, before: records } of runs) {
        expect(await live(runId)).toEqual(["archived"]);
        expect(await fresh.read(runId)).toEqual(records);
      }
    }
  });
});

describe("documents of archived runs", () => {
  test("are removed with the run's records; those of other runs stay", async () => {
    const [one, other] = [await finished(), `run_tidy${(count += 1)}`];
    await openRun(journal, other);
    for (const runId of [one.runId, other]) await document(runId);
    await archive([one.runId]);
    expect(await documents(one.runId)).toEqual([]);
    expect(await documents(other)).toEqual([other, `${other}.T-001`, `${other}.T-001.1`, `${other}.router`]);
    expect(await openKv(bus, BUCKETS.budgets).get(one.runId)).not.toBeNull();
  });

  test("a purge that was interrupted before its end is due again and removes the documents", async () => {
    const { runId } = await finished();
    await document(runId);
    const own = archiver();
    const [run] = await recorded([runId], own);
    if (run === undefined) throw new Error("not due");
    await own.purge([{ ...run, live: run.live.slice(0, -1) }]);
    await document(runId); // A projector was late.
    await archive([runId]);
    expect(await live(runId)).toEqual(["archived"]);
    expect(await documents(runId)).toEqual([]);
  });

  test("removes documents written after archiving with the next tidy, and keeps those of a lost run", async () => {
    const [one, back, lost] = [await finished(), await finished(), `run_tidy${(count += 1)}`];
    await archive([one.runId, back.runId]);
    await openRunRestore(bus, journal).restore(back.runId, "me");
    for (const runId of [one.runId, back.runId, lost]) await document(runId);
    expect(await archiver().tidy(soon())).toMatchObject({ documents: 4 });
    expect(await documents(one.runId)).toEqual([]);
    expect(await documents(back.runId)).toHaveLength(4);
    expect(await documents(lost)).toHaveLength(4);
    expect(await archiver().tidy(soon())).toMatchObject({ documents: 0 });
  });
});

describe("ages", () => {
  const wrong = (byMs: number): Clock => ({
    now: () => Date.now() + byMs,
    sleep: () => Promise.reject(new Error("a round does not sleep")),
  });

  test.each([YEARS_MS, -YEARS_MS])(
    "a Director whose clock is wrong by %i ms archives only runs that ended long enough ago",
    async (byMs) => {
      const { runId } = await finished();
      const parts = { archive: archiver(), log, clock: wrong(byMs) };
      await archiveRound(parts, 60_000, new Set());
      expect(await live(runId)).toHaveLength(8);
      await archiveRound(parts, -60_000, new Set());
      expect(await live(runId)).toEqual(["archived"]);
    },
  );
});
