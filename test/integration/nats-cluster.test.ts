import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openJournal, provision, uniqueId } from "../../runtime/src/index.ts";
import type { Bus } from "../../runtime/src/index.ts";
import { claimRecord, dispatchRecord, intentRecord } from "../../runtime/src/testing/records.ts";
import { startNatsCluster, type NatsCluster } from "../support/nats-cluster.ts";
import { eventually } from "../support/nats.ts";

let cluster: NatsCluster;
let bus: Bus;

beforeAll(async () => {
  cluster = await startNatsCluster();
  bus = await cluster.connect();
  await provision(bus, { replicas: 3 });
}, 60_000);
afterAll(() => cluster.close());

describe("three servers, three copies of each stream", () => {
  it("N2 replicas are set once and adopted by whoever does not say, and are never taken away", async () => {
    const other = await cluster.connect();
    await expect(provision(other)).resolves.toMatchObject({ created: [], updated: [] });
    const { config } = await bus.jsm.streams.info("ANT_JOURNAL_0");
    expect(config.num_replicas).toBe(3);
    await expect(provision(other, { replicas: 1 })).rejects.toMatchObject({ code: "ANT_NATS_TOPOLOGY" });
  });

  it("J5 nothing acknowledged is lost, and nothing is there twice, when the leader is killed meanwhile", async () => {
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
  }, 60_000);

  it("J3 a register that was taken before the leader died is taken after it", async () => {
    const journal = openJournal(bus);
    const runId = `run_${uniqueId()}`;
    await journal.append(claimRecord(runId, "T-1", 1, "as_one"));
    const leader = await cluster.leader("ANT_JOURNAL_0");
    await leader?.kill();
    const late = await journal.append(claimRecord(runId, "T-1", 1, "as_two"));
    expect(late.kind).toBe("conflict");
    await leader?.restart();
    await cluster.healthy();
  }, 60_000);
});
