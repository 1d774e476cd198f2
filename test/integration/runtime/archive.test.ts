import { HEADERS, journalStream, subjects, type StoredRecord } from "@antiphon/contracts";
import {
  openJournal,
  openRunArchive,
  openRunOrder,
  openRunRestore,
  openSigningKey,
  provision,
  type Bus,
  type Journal,
} from "@antiphon/runtime";
import { finishRun, openRun } from "@antiphon/runtime/testing/finished-run";
import { claimRecord, dispatchRecord, intentRecord } from "@antiphon/contracts/testing/records";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startNats, type NatsServer } from "../../support/nats.ts";

let server: NatsServer;
let bus: Bus;
let journal: Journal;
let count = 0;

beforeAll(async () => {
  server = await startNats();
  bus = await server.connect();
  await provision(bus);
  journal = openJournal(bus, { key: openSigningKey(null) });
});
afterAll(() => server.close());

const STREAM = journalStream(0);
const newRun = (): string => `run_archive${(count += 1)}`;
const soon = (): Date => new Date(Date.now() + 60_000);
const archiver = (on: Bus = bus) => openRunArchive(on, openJournal(on));
const restorer = (on: Bus = bus) => openRunRestore(on, openJournal(on));

/** One round of a separate archiver over these runs, or only some of its steps. */
async function archive(runIds: readonly string[], steps: 1 | 2 | 3 = 3): Promise<void> {
  const own = archiver();
  const packed = await own.pack(runIds, soon());
  if (steps === 1) return;
  const runs = await own.record(packed);
  if (steps === 3) await own.purge(runs);
}

/** Types of a run's records in the journal, in stream order. */
async function live(runId: string): Promise<string[]> {
  const messages = await bus.reader.multiLast(STREAM, [subjects.runInPartition(runId, 1)]);
  return messages.map(({ subject }) => subject.split(".")[4] ?? "");
}

async function raw(runId: string): Promise<Map<string, { data: string; headers: Record<string, string> }>> {
  const messages = await bus.reader.multiLast(STREAM, [subjects.runInPartition(runId, 1)]);
  return new Map(
    messages.map((message) => {
      const words = Object.entries(message.headers()).filter(([name]) => !name.startsWith("Nats-"));
      return [
        message.subject,
        { data: Buffer.from(message.data).toString("hex"), headers: Object.fromEntries(words) },
      ];
    }),
  );
}

async function finished(): Promise<{ runId: string; before: StoredRecord[] }> {
  const runId = newRun();
  await finishRun(journal, runId);
  return { runId, before: await journal.read(runId) };
}

describe("archiving", () => {
  test("runtime/J10: a run reads the same before, during and after it is archived and restored", async () => {
    const { runId, before } = await finished();
    expect(before.filter(({ signature }) => signature !== undefined)).toHaveLength(3);
    await archive([runId], 2);
    expect(await live(runId)).toHaveLength(9);
    expect(await journal.read(runId)).toEqual(before);
    await archive([runId]);
    expect(await live(runId)).toEqual(["archived"]);
    expect(await journal.read(runId)).toEqual(before);
    expect(await journal.read(runId, ["verdict", "closed"])).toEqual(
      before.filter(({ type }) => type === "verdict" || type === "closed"),
    );
    expect(await journal.find("claim", runId, "T-001", 1)).toEqual(before[3]);
    expect(await journal.find("claim", runId, "T-001", 2)).toBeNull();
    await restorer().restore(runId, "somebody");
    expect(await journal.read(runId)).toEqual(before);
    expect(await journal.find("claim", runId, "T-001", 1)).toEqual(before[3]);
  });

  test("an archived run can be tailed from any of its records to its end", async () => {
    const { runId, before } = await finished();
    await archive([runId]);
    const stop = new AbortController();
    const seen: StoredRecord[] = [];
    for await (const record of journal.tail(runId, { fromSeq: before[2]?.seq ?? 0, signal: stop.signal })) {
      seen.push(record);
      if (record.type === "closed") stop.abort();
    }
    expect(seen).toEqual(before.slice(2));
  });

  test("runtime/J10: a long run is read part by part, each record once, before, during and after it is archived", async () => {
    const runId = newRun();
    await finishRun(journal, runId);
    const more = Array.from({ length: 2_600 }, (_, at) => dispatchRecord(runId, "T-002", at + 1));
    await Promise.all(more.map((record) => journal.append(record)));
    const before = await journal.read(runId);
    const parts = async (): Promise<(readonly StoredRecord[])[]> => {
      const read: (readonly StoredRecord[])[] = [];
      for (let from = 0; ;) {
        const part = await journal.next(runId, from);
        const last = part.at(-1);
        if (last === undefined) return read;
        read.push(part);
        from = last.seq + 1;
      }
    };
    const live = await parts();
    expect(live.flat()).toEqual(before);
    const read: (readonly StoredRecord[])[] = [];
    for await (const part of journal.parts(runId)) read.push(part);
    expect([read.flat(), read.length]).toEqual([before, live.length]);
    expect(live.length, "no part is the whole run").toBeGreaterThan(1);
    const stop = new AbortController();
    const tailed: StoredRecord[] = [];
    for await (const record of journal.tail(runId, { signal: stop.signal }))
      if (tailed.push(record) === before.length) stop.abort();
    expect(tailed).toEqual(before);
    await archive([runId], 2);
    expect((await parts()).flat()).toEqual(before);
    await archive([runId]);
    expect((await parts()).flat()).toEqual(before);
  });

  test("the same intent for an archived run is a duplicate, another one a conflict; no second run opens", async () => {
    const { runId, before } = await finished();
    await archive([runId]);
    const same = await journal.append(intentRecord(runId));
    expect(same).toEqual({ kind: "duplicate", record: before[0] });
    const other = await journal.append(intentRecord(runId, "something else"));
    expect(other).toEqual({ kind: "conflict", existing: before[0] });
    expect(await live(runId)).toEqual(["archived"]);
    expect(await journal.openRunIds()).not.toContain(runId);
    expect((await openRunOrder(bus).page(1_000, null)).runIds.filter((one) => one === runId)).toEqual([
      runId,
    ]);
  });

  test.each([1, 2] as const)(
    "a crash after step %i loses nothing; the next round finishes it",
    async (steps) => {
      const { runId, before } = await finished();
      await archive([runId], steps);
      expect(await journal.read(runId)).toEqual(before);
      expect(await archiver().due(soon(), 1000, new Set())).toContain(runId);
      await archive([runId]);
      expect(await live(runId)).toEqual(["archived"]);
      expect(await journal.read(runId)).toEqual(before);
    },
  );

  test("runtime/J10: a purge cut short at any record leaves no open run, reads whole and is finished later", async () => {
    const { runId, before } = await finished();
    await archive([runId], 2);
    for (let left = before.length; left > 0; left -= 1) {
      const [run] = (await archiver().pack([runId], soon())).runs;
      if (run === undefined) throw new Error("not due");
      expect(run.live).toHaveLength(left);
      await archiver().purge([{ ...run, live: run.live.slice(0, 1) }]);
      expect(await journal.openRunIds()).not.toContain(runId);
      expect(await journal.read(runId)).toEqual(before);
      if (left > 1) expect(await archiver().due(soon(), 1000, new Set())).toContain(runId);
    }
    expect(await live(runId)).toEqual(["archived"]);
  });

  test("runtime/J10: if the server is killed during a purge, every run reads whole and the next round ends it", async () => {
    const runs = await Promise.all(Array.from({ length: 6 }, finished));
    const ids = runs.map(({ runId }) => runId);
    await archive(ids, 2);
    let deletes = 0;
    const { streams } = bus.jsm;
    const deadly = Object.create(bus, {
      jsm: {
        value: {
          streams: {
            getMessage: streams.getMessage.bind(streams),
            purge: streams.purge.bind(streams),
            async deleteMessage(...asked: Parameters<typeof streams.deleteMessage>) {
              if ((deletes += 1) === 20) await server.kill();
              return streams.deleteMessage(...asked);
            },
          },
        },
      },
    }) as Bus;
    const own = archiver(deadly);
    const left = await own.pack(ids, soon());
    await expect(own.purge(left.runs)).rejects.toMatchObject({ code: "ANT_NATS_UNREACHABLE" });
    await server.restart();
    for (const { runId, before } of runs) expect(await journal.read(runId)).toEqual(before);
    const open = await journal.openRunIds();
    expect(ids.filter((runId) => open.includes(runId))).toEqual([]);
    await archive(ids);
    for (const { runId, before } of runs) {
      expect(await live(runId)).toEqual(["archived"]);
      expect(await journal.read(runId)).toEqual(before);
    }
  });

  test("three archivers at once leave each run whole with one archived record", async () => {
    const runs = await Promise.all(Array.from({ length: 6 }, finished));
    const ids = runs.map(({ runId }) => runId);
    await Promise.all([archive(ids), archive(ids.toReversed()), archive(ids.slice(2))]);
    await archive(ids); // Purges the rest, if one of them left a run to another.
    for (const { runId, before } of runs) {
      expect(await live(runId)).toEqual(["archived"]);
      expect(await journal.read(runId)).toEqual(before);
    }
  });

  test("refuses a run with a broken chain by name, keeps it, and archives the others", async () => {
    const [broken, whole] = [newRun(), await finished()];
    await finishRun(journal, broken);
    const first = await bus.reader.last(STREAM, `antiphon.v1.run.0.claim.${broken}.t-001.1`);
    await bus.jsm.streams.deleteMessage(STREAM, first?.seq ?? 0);
    const packed = await archiver().pack([broken, whole.runId], soon());
    expect(packed.refused).toMatchObject([{ runId: broken, code: "ANT_JOURNAL_GAP" }]);
    expect(packed.runs.map(({ runId }) => runId)).toEqual([whole.runId]);
    expect(await live(broken)).toHaveLength(7);
  });

  test("does not archive a run that is under way", async () => {
    const runId = newRun();
    await openRun(journal, runId);
    await archive([runId]);
    expect(await live(runId)).toEqual(["intent", "routed", "dispatch"]);
    expect(await archiver().due(soon(), 1000, new Set())).not.toContain(runId);
  });

  test("records written after archiving are read behind the others and not purged", async () => {
    const { runId, before } = await finished();
    await archive([runId], 2);
    await journal.append(claimRecord(runId, "T-001", 2, "as_late"));
    await archive([runId]);
    expect(await live(runId)).toEqual(["archived", "claim"]);
    const after = await journal.read(runId);
    expect(after.slice(0, -1)).toEqual(before);
    expect(after.at(-1)).toMatchObject({ type: "claim", epoch: 2 });
  });

  test("does not record a pack that reads back differently, and purges nothing", async () => {
    const { runId, before } = await finished();
    const lying = Object.create(bus, {
      reader: {
        value: {
          multiLast: bus.reader.multiLast.bind(bus.reader),
          last: bus.reader.last.bind(bus.reader),
          async next(...asked: Parameters<Bus["reader"]["next"]>) {
            const page = await bus.reader.next(...asked);
            for (const { data } of page.messages) data[20] = (data[20] ?? 0) ^ 1;
            return page;
          },
        },
      },
    }) as Bus;
    await expect(archiver(lying).pack([runId], soon())).rejects.toMatchObject({
      code: "ANT_ARCHIVE_CORRUPT",
    });
    expect(await journal.read(runId)).toEqual(before);
    expect(await live(runId)).toHaveLength(8);
  });

  test("names a missing pack, and the run appears neither missing nor incomplete", async () => {
    const { runId } = await finished();
    await archive([runId]);
    await bus.jsm.streams.purge("OBJ_ANT_ARCHIVE");
    const fresh = openJournal(await server.connect());
    await expect(fresh.read(runId)).rejects.toMatchObject({ code: "ANT_ARCHIVE_CORRUPT" });
    await expect(restorer(await server.connect()).restore(runId, "me")).rejects.toMatchObject({
      code: "ANT_ARCHIVE_CORRUPT",
    });
    expect(await live(runId)).toEqual(["archived"]);
  });
});

describe("restoring", () => {
  test("puts back the same subjects, bytes and headers, once, and reports their number", async () => {
    const { runId, before } = await finished();
    const then = await raw(runId);
    await archive([runId]);
    expect(await restorer().restore(runId, "me")).toEqual({ runId, records: 8, restored: 8 });
    const now = await raw(runId);
    for (const [i, [subject, message]] of [...then].entries()) {
      const { [HEADERS.restored]: place, ...headers } = now.get(subject)?.headers ?? {};
      expect({ data: now.get(subject)?.data, headers }).toEqual(message);
      expect(place).toMatch(new RegExp(`^${before[i]?.seq}:\\d{4}-`));
    }
    expect(await restorer().restore(runId, "somebody else")).toEqual({ runId, records: 8, restored: 0 });
  });

  test("puts the intent back last, and each record after those that follow from it", async () => {
    const { runId } = await finished();
    await archive([runId]);
    await restorer().restore(runId, "me");
    const [archived, restored, ...back] = await live(runId);
    expect([archived, restored]).toEqual(["archived", "restored"]);
    expect(back).toEqual([
      ...["closed", "landing", "verdict", "result", "claim", "dispatch", "routed", "intent"],
    ]);
  });

  test("an interrupted restore leaves the run whole, and the same call continues it", async () => {
    const { runId, before } = await finished();
    await archive([runId]);
    for (let stored = 0; stored <= before.length; stored += 1) {
      let left = 1;
      const dying = Object.create(bus, {
        publish: {
          value: (...asked: Parameters<Bus["publish"]>) => {
            if (asked[0].subject.includes(".restored.") || !asked[0].headers.includes(HEADERS.restored))
              return bus.publish(...asked);
            return (left -= 1) >= -stored ? bus.publish(...asked) : Promise.reject(new Error("killed"));
          },
        },
      }) as Bus;
      await restorer(dying)
        .restore(runId, "me")
        .catch(() => undefined);
      expect(await journal.read(runId)).toEqual(before);
    }
    expect(await restorer().restore(runId, "me")).toMatchObject({ restored: 0 });
    expect(await live(runId)).toHaveLength(10);
  });

  test("a restored run does not need its pack", async () => {
    const { runId, before } = await finished();
    await archive([runId]);
    await restorer().restore(runId, "me");
    await bus.jsm.streams.purge("OBJ_ANT_ARCHIVE");
    expect(await openJournal(await server.connect()).read(runId)).toEqual(before);
  });

  test("archives a restored run anew only once its restore has reached the archiving age", async () => {
    const { runId, before } = await finished();
    await archive([runId]);
    const asOf = new Date();
    await restorer().restore(runId, "me");
    expect(await archiver().due(asOf, 1000, new Set())).not.toContain(runId);
    expect(await archiver().pack([runId], asOf)).toEqual({ runs: [], refused: [] });
    await archive([runId]);
    expect(await live(runId)).toEqual(["archived"]);
    expect(await journal.find("archived", runId, null, 2)).toMatchObject({ body: { records: 8 } });
    expect(await journal.read(runId)).toEqual(before);
    await restorer().restore(runId, "me");
    expect(await journal.read(runId)).toEqual(before);
  });

  test("refuses a run that was never archived, or never existed, by a code", async () => {
    const { runId } = await finished();
    await expect(restorer().restore(runId, "me")).rejects.toMatchObject({ code: "ANT_RUN_NOT_ARCHIVED" });
    await expect(restorer().restore("run_none", "me")).rejects.toMatchObject({ code: "ANT_RUN_NOT_FOUND" });
  });
});
