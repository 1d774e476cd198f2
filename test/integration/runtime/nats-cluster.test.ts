import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUCKETS } from "@antiphon/contracts";
import { openBlobs, openJournal, openKv, provision, uniqueId } from "../../../runtime/src/index.ts";
import type { Bus } from "../../../runtime/src/index.ts";
import { claimRecord, dispatchRecord, intentRecord } from "../../../contracts/src/testing/records.ts";
import { startNatsCluster, type NatsCluster } from "../../support/nats-cluster.ts";
import { eventually } from "../../support/nats.ts";
import { patient } from "../../support/patience.ts";

let cluster: NatsCluster;
let bus: Bus;

beforeAll(async () => {
  cluster = await startNatsCluster();
  bus = await cluster.connect();
  await provision(bus, { replicas: 3 });
}, patient(60_000));
afterAll(() => cluster.close());

describe("three servers, three copies of each stream", () => {
  it("sets replicas once, adopts them where they are not set, and never reduces them", async () => {
    const other = await cluster.connect();
    await expect(provision(other)).resolves.toMatchObject({ created: [], updated: [] });
    const { config } = await bus.jsm.streams.info("ANT_JOURNAL_0");
    expect(config.num_replicas).toBe(3);
    await expect(provision(other, { replicas: 1 })).rejects.toMatchObject({ code: "ANT_NATS_TOPOLOGY" });
  });

  it(
    "loses and doubles no acknowledged record when the leader is killed",
    async () => {
      const journal = openJournal(bus);
      const [runId, total] = [`run_${uniqueId()}`, 600];
      await journal.append(intentRecord(runId));
      const leader = await cluster.leader("ANT_JOURNAL_0");
      const acknowledged: string[] = [];
      let next = 0;
      const writers = Array.from({ length: 20 }, async () => {
        while (next < total) {
          const result = await journal.append(dispatchRecord(runId, `T-${next++}`, 1));
          if (result.kind === "conflict") throw new Error(`conflict at ${result.existing.subject}`);
          acknowledged.push(result.record.digest);
        }
      });
      await eventually("a third is written", () => acknowledged.length > total / 3);
      await leader?.kill();
      await Promise.all(writers);
      const stored = (await journal.read(runId)).map((record) => record.digest);
      expect(acknowledged).toHaveLength(total);
      expect(stored).toEqual(expect.arrayContaining(acknowledged));
      expect(new Set(stored).size).toBe(stored.length);
      expect(stored).toHaveLength(total + 1);
      await leader?.restart();
      await cluster.healthy();
    },
    patient(60_000),
  );

  it("stores no `after` in records, but the leader still refuses a record behind another one", async () => {
    const journal = openJournal(bus);
    const runId = `run_${uniqueId()}`;
    const opened = await journal.append(intentRecord(runId));
    if (opened.kind !== "appended") throw new Error(opened.kind);
    const { seq } = opened.record;
    const next = await journal.appendIfUnmoved(dispatchRecord(runId, "T-1", 1), seq);
    expect(next.kind).toBe("appended");
    expect(await journal.appendIfUnmoved(dispatchRecord(runId, "T-2", 1), seq)).toEqual({ kind: "moved" });
    expect((await journal.append(dispatchRecord(runId, "T-3", 1), { probablyAfter: seq })).kind).toBe(
      "appended",
    );
    expect((await journal.read(runId)).map(({ after }) => after)).toEqual([undefined, undefined, undefined]);
  });

  it(
    "runtime/J3: once a record is acknowledged to one service, every service reads it, from any server",
    async () => {
      const buses = await Promise.all(cluster.members.map(({ url }) => cluster.connect({ servers: url })));
      const pairs = Array.from({ length: 150 }, (_, i) => i);
      const missed: string[] = [];
      await Promise.all(
        buses.map(async (writer, w) => {
          const reader = buses[(w + 1) % buses.length]!;
          const [mine, theirs] = [openKv(writer, BUCKETS.intents), openKv(reader, BUCKETS.intents)];
          const blobs = openBlobs(writer, BUCKETS.evidenceFiles);
          const others = openBlobs(reader, BUCKETS.evidenceFiles);
          for (const i of pairs) {
            const runId = `run_${uniqueId()}`;
            await mine.create(runId, { i });
            if ((await theirs.get(runId)) === null) missed.push(`document ${w} ${i}`);
            await openJournal(writer).append(intentRecord(runId));
            await openJournal(writer).append(dispatchRecord(runId, "T-1", 1));
            const records = await openJournal(reader).read(runId);
            if (records.length !== 2) missed.push(`record ${w} ${i}: ${records.length}`);
            if (i % 10 !== 0) continue;
            const ref = await blobs.put(`big-${w}-${i}`, Buffer.alloc(300_000, `${w} ${i}`));
            const read = await others.get(ref).catch((error: unknown) => error);
            if (!(read instanceof Buffer)) missed.push(`object ${w} ${i}: ${String(read)}`);
          }
        }),
      );
      expect(missed).toEqual([]);
    },
    patient(60_000),
  );

  it(
    "a register taken before the leader died is taken after it",
    async () => {
      const journal = openJournal(bus);
      const runId = `run_${uniqueId()}`;
      await journal.append(claimRecord(runId, "T-1", 1, "as_one"));
      const leader = await cluster.leader("ANT_JOURNAL_0");
      await leader?.kill();
      const late = await journal.append(claimRecord(runId, "T-1", 1, "as_two"));
      expect(late.kind).toBe("conflict");
      await leader?.restart();
      await cluster.healthy();
    },
    patient(60_000),
  );
});
