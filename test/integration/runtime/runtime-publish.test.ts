import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Bus, Journal } from "../../../runtime/src/index.ts";
import { openJournal, provision } from "../../../runtime/src/index.ts";
import { claimRecord, dispatchRecord, intentRecord } from "../../../contracts/src/testing/records.ts";
import type { NatsServer } from "../../support/nats.ts";
import { eventually, startNats } from "../../support/nats.ts";

let server: NatsServer;
let bus: Bus;
let journal: Journal;

beforeEach(async () => {
  server = await startNats();
  bus = await server.connect();
  await provision(bus);
  journal = openJournal(bus);
});

afterEach(async () => {
  await server.close();
});

describe("the publisher against a real server", () => {
  it("runtime/J2: kill -9 of the server in a burst: the fate of every append is known, each record stored once", async () => {
    const total = 3000;
    let settled = 0;
    const appends = Array.from({ length: total }, async (_, i) => {
      const result = await journal.append(dispatchRecord(`run_burst${i % 10}`, `T-${i}`, 1, 200));
      settled += 1;
      return result;
    });
    for (const at of [300, 1200]) {
      await eventually(`${at} appends are settled`, () => settled >= at);
      await server.kill();
      await server.restart();
    }
    const results = await Promise.all(appends);
    expect(results.filter((result) => result.kind === "conflict")).toEqual([]);

    // The history must agree with the log: same sequences, no duplicate, no gap.
    const records = (
      await Promise.all(Array.from({ length: 10 }, (_, i) => journal.read(`run_burst${i}`)))
    ).flat();
    expect(records).toHaveLength(total);
    const bySubject = new Map(records.map((record) => [record.subject, record.seq]));
    expect(bySubject.size).toBe(total);
    for (const result of results) {
      if (result.kind === "conflict") continue;
      expect(bySubject.get(result.record.subject)).toBe(result.record.seq);
    }
  });

  it("an append during an outage waits, and is stored when the server is back", async () => {
    await server.kill();
    await eventually("the bus noticed", () => !bus.connected);
    const append = journal.append(intentRecord("run_outage"));
    await server.restart();
    expect((await append).kind).toBe("appended");
    expect(await journal.read("run_outage")).toHaveLength(1);
  });

  it("an aborted append throws, and never claims an unknown result", async () => {
    await server.kill();
    await eventually("the bus noticed", () => !bus.connected);
    const append = journal.append(intentRecord("run_gone"), { signal: AbortSignal.timeout(200) });
    await expect(append).rejects.toMatchObject({ code: "ANT_NATS_UNREACHABLE" });
    await server.restart();
  });

  it("an append to a server that is silent beyond the ack timeout is retried and stored once", async () => {
    const impatient = await server.connect({ publisher: { ackTimeoutMs: 300 } });
    const slow = openJournal(impatient);
    await slow.append(intentRecord("run_warm"));
    server.pause();
    const appends = Array.from({ length: 40 }, (_, i) =>
      slow.append(dispatchRecord("run_slow", `T-${i}`, 1)),
    );
    await eventually("attempts have timed out", () => impatient.publisherStats().retried >= 40);
    server.resume();
    const results = await Promise.all(appends);
    expect(results.every((result) => result.kind !== "conflict")).toBe(true);
    expect(await slow.read("run_slow")).toHaveLength(40);
  });

  it("runtime/J2: one stale record in a batch does not fail its neighbours, which are sent singly", async () => {
    await journal.append(claimRecord("run_mixed", "T-7", 1, "as_first"));
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        journal.append(claimRecord("run_mixed", `T-${i}`, 1, "as_second")),
      ),
    );
    expect(results.filter((result) => result.kind === "appended")).toHaveLength(59);
    expect(results[7]).toMatchObject({ kind: "conflict", existing: { body: { associate: "as_first" } } });
    expect(bus.publisherStats().retried).toBeGreaterThan(0);
    expect(await journal.read("run_mixed")).toHaveLength(60);
  });

  it("commits a burst in batches, and each record learns its own sequence", async () => {
    const results = await Promise.all(
      Array.from({ length: 1500 }, (_, i) => journal.append(dispatchRecord("run_batch", `T-${i}`, 1))),
    );
    const { batches, singles } = bus.publisherStats();
    expect(batches).toBeGreaterThanOrEqual(4);
    expect(batches + singles).toBeLessThan(100);
    const sample = [0, 399, 400, 1499];
    for (const i of sample) {
      const found = await journal.find("dispatch", "run_batch", `T-${i}`, 1);
      const result = results[i];
      expect(result?.kind === "appended" && result.record.seq).toBe(found?.seq);
    }
  });

  it("runtime/J3: reads a run with more records than one direct get resolves whole and in order", async () => {
    await Promise.all(
      Array.from({ length: 1300 }, (_, i) => journal.append(dispatchRecord("run_long", `T-${i}`, 1))),
    );
    const records = await journal.read("run_long");
    expect(records).toHaveLength(1300);
    expect(records.every((record, i) => i === 0 || record.seq > (records[i - 1]?.seq ?? 0))).toBe(true);
  });

  it("the bound on pending messages holds; callers wait their turn and all get through", async () => {
    const tight = await server.connect({ publisher: { maxPending: 50 } });
    const bounded = openJournal(tight);
    let peak = 0;
    const watch = setInterval(() => (peak = Math.max(peak, tight.publisherStats().pending)), 1);
    const results = await Promise.all(
      Array.from({ length: 500 }, (_, i) => {
        const append = bounded.append(dispatchRecord("run_tight", `T-${i}`, 1));
        peak = Math.max(peak, tight.publisherStats().pending);
        return append;
      }),
    );
    clearInterval(watch);
    expect(peak).toBeLessThanOrEqual(50);
    expect(peak).toBeGreaterThan(0);
    expect(results.every((result) => result.kind === "appended")).toBe(true);
    expect(tight.publisherStats()).toMatchObject({ pending: 0, pendingBytes: 0 });
  });

  it("closing the bus settles pending writes and reads without waiting for a server that is gone", async () => {
    await server.kill();
    await eventually("the bus noticed", () => !bus.connected);
    const appends = Array.from({ length: 20 }, (_, i) =>
      journal.append(dispatchRecord("run_close", `T-${i}`, 1)),
    );
    const read = journal.read("run_close");
    const closing = performance.now();
    await bus.close();
    const settled = await Promise.allSettled([...appends, read]);
    expect(performance.now() - closing).toBeLessThan(5_000); // a read alone would wait for 15 s
    expect(settled.every((one) => one.status === "rejected")).toBe(true);
  });

  it("refuses a record larger than a message at once with a code", async () => {
    const append = journal.append(dispatchRecord("run_large", "T-1", 1, 300_000));
    await expect(append).rejects.toMatchObject({ code: "ANT_NATS_REJECTED" });
  });

  it("a tail survives a server restart and misses nothing", async () => {
    const stop = new AbortController();
    const seen: number[] = [];
    const tailing = (async () => {
      for await (const record of journal.tail("run_tail", { signal: stop.signal })) seen.push(record.epoch);
    })();
    await journal.append(dispatchRecord("run_tail", "T-1", 1));
    await eventually("the first is seen", () => seen.length === 1);
    await server.kill();
    await server.restart();
    await journal.append(dispatchRecord("run_tail", "T-1", 2));
    await eventually("the second is seen", () => seen.length === 2);
    stop.abort();
    await tailing;
    expect(seen).toEqual([1, 2]);
  });
});

describe("a full stream", () => {
  it("refuses with a code instead of dropping: 503, never 202 and a lost record", async () => {
    await bus.jsm.streams.update("ANT_JOURNAL_0", { max_bytes: 20_000 });
    const appends = Array.from({ length: 60 }, (_, i) =>
      journal.append(dispatchRecord("run_full", `T-${i}`, 1, 1000)),
    );
    const settled = await Promise.allSettled(appends);
    const stored = settled.filter((one) => one.status === "fulfilled").length;
    const refused = settled.filter((one) => one.status === "rejected");
    expect(refused.length).toBeGreaterThan(0);
    for (const one of refused) expect(one).toMatchObject({ reason: { code: "ANT_NATS_NO_SPACE" } });
    expect(await journal.read("run_full")).toHaveLength(stored);
  });
});
