import type { NewRecord, StoredRecord } from "@antiphon/contracts";
import { describe, expect, it } from "vitest";
import type { Blobs } from "../stores/blobs.ts";
import type { Journal } from "../journal/journal.ts";
import type { Kv } from "../stores/kv.ts";
import { claimRecord, dispatchRecord, intentRecord, resultRecord } from "@antiphon/contracts/testing/records";

/**
 * The behaviour that every Journal, Kv and Blobs shares, tested on the in-memory versions and on the real server alike.
 * `open` is called once per test and may return the same instance; names are fresh in each test.
 */
export interface Subjects {
  journal(): Journal;
  kv(): Kv;
  blobs(): Blobs;
}

let counter = 0;
const fresh = (prefix: string): string =>
  `${prefix}${process.pid.toString(36)}${(counter += 1).toString(36)}`;

export function conformance(name: string, on: Subjects): void {
  describe(`${name}: journal`, () => {
    registerConformance(() => on.journal());
    orderConformance(() => on.journal());
    readConformance(() => on.journal());
  });
  describe(`${name}: kv`, () => kvConformance(() => on.kv()));
  describe(`${name}: blobs`, () => blobConformance(() => on.blobs()));
}

function registerConformance(open: () => Journal): void {
  it("runtime/J1: the same record twice is a duplicate with the sequence of the first", async () => {
    const journal = open();
    const record = intentRecord(fresh("run_"));
    const first = await journal.append(record);
    const second = await journal.append(record);
    expect(first.kind).toBe("appended");
    expect(second.kind).toBe("duplicate");
    expect(recordOf(second).seq).toBe(recordOf(first).seq);
    expect(recordOf(second).digest).toBe(recordOf(first).digest);
  });

  it("the order of keys makes no difference to a record", async () => {
    const journal = open();
    const record = claimRecord(fresh("run_"), "T-001", 1, "as_one");
    await journal.append(record);
    const shuffled = Object.fromEntries(Object.entries(record).reverse()) as unknown as NewRecord;
    expect((await journal.append(shuffled)).kind).toBe("duplicate");
  });

  it("runtime/J1: another record for the same register is a conflict that names the first", async () => {
    const journal = open();
    const runId = fresh("run_");
    const first = await journal.append(claimRecord(runId, "T-001", 1, "as_one"));
    const second = await journal.append(claimRecord(runId, "T-001", 1, "as_two"));
    expect(second.kind).toBe("conflict");
    expect(recordOf(second)).toMatchObject({ seq: recordOf(first).seq, body: { associate: "as_one" } });
  });

  it("runtime/J1: exactly one of many writers of a register wins", async () => {
    const journal = open();
    const runId = fresh("run_");
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, i) => journal.append(claimRecord(runId, "T-001", 1, `as_${i}`))),
    );
    expect(results.filter((result) => result.kind === "appended")).toHaveLength(1);
    expect(results.filter((result) => result.kind === "conflict")).toHaveLength(29);
    expect(new Set(results.map((result) => recordOf(result).digest)).size).toBe(1);
  });

  it("refuses a late result of an epoch whose lease was recorded as expired", async () => {
    const journal = open();
    const runId = fresh("run_");
    await journal.append(dispatchRecord(runId, "T-001", 1));
    await journal.append(claimRecord(runId, "T-001", 1, "as_zombie"));
    await journal.append(
      resultRecord(runId, "T-001", 1, { kind: "lapsed", observer: "as_two", holder: "as_zombie" }),
    );
    const late = await journal.append(
      resultRecord(runId, "T-001", 1, {
        kind: "abandoned",
        associate: "as_zombie",
        code: "ANT_INTERNAL",
        message: "",
      }),
    );
    expect(late.kind).toBe("conflict");
    expect(recordOf(late).body).toMatchObject({ kind: "lapsed" });
  });
}

/** Conditions on a whole run: that it is new, or that a certain record is its last one. */
function orderConformance(open: () => Journal): void {
  it("runtime/J2: exactly one of many writers opens a run, and the others get its intent", async () => {
    const journal = open();
    const runId = fresh("run_");
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, i) => journal.append(intentRecord(runId, `goal ${i}`))),
    );
    expect(results.filter(({ kind }) => kind === "appended")).toHaveLength(1);
    expect(new Set(results.map((result) => recordOf(result).digest)).size).toBe(1);
    expect(await journal.read(runId)).toHaveLength(1);
  });

  it("appendIfUnmoved stores a record only while the named one is the run's last, and otherwise answers `moved`", async () => {
    const journal = open();
    const [runId, other] = [fresh("run_"), fresh("run_")];
    await journal.append(intentRecord(runId));
    const last = recordOf(await journal.append(dispatchRecord(runId, "T-001", 1)));
    await journal.append(intentRecord(other)); // Another run's record does not count.
    const claim = claimRecord(runId, "T-001", 1, "as_one");
    expect(await journal.appendIfUnmoved(claim, last.seq - 1)).toEqual({ kind: "moved" });
    expect(await journal.appendIfUnmoved(claim, last.seq + 100)).toEqual({ kind: "moved" });
    expect(await journal.read(runId)).toHaveLength(2);
    expect(await journal.appendIfUnmoved(claim, last.seq)).toMatchObject({
      kind: "appended",
      record: { after: last.seq },
    });
    expect((await journal.appendIfUnmoved(claim, last.seq)).kind).toBe("duplicate");
    const second = await journal.appendIfUnmoved(claimRecord(runId, "T-001", 1, "as_two"), last.seq);
    expect(second).toMatchObject({ kind: "conflict", existing: { body: { associate: "as_one" } } });
    expect((await journal.read(runId)).map(({ after }) => after)).toEqual([undefined, undefined, last.seq]);
  });

  it("append with a wrong `after` stores the record all the same, but without `after`", async () => {
    const journal = open();
    const runId = fresh("run_");
    const { seq } = recordOf(await journal.append(intentRecord(runId)));
    const next = recordOf(await journal.append(dispatchRecord(runId, "T-001", 1), { probablyAfter: seq }));
    const later = recordOf(await journal.append(dispatchRecord(runId, "T-002", 1), { probablyAfter: seq }));
    expect([next.after, later.after]).toEqual([seq, undefined]);
    expect((await journal.append(dispatchRecord(runId, "T-002", 1), { probablyAfter: seq })).kind).toBe(
      "duplicate",
    );
    expect((await journal.read(runId)).map(({ after }) => after)).toEqual([undefined, seq, undefined]);
  });

  it("stores exactly one of many records that may only follow the same one", async () => {
    const journal = open();
    const runId = fresh("run_");
    const { seq } = recordOf(await journal.append(intentRecord(runId)));
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        journal.appendIfUnmoved(claimRecord(runId, "T-001", i + 1, "as"), seq),
      ),
    );
    expect(results.filter(({ kind }) => kind === "appended")).toHaveLength(1);
    expect(results.filter(({ kind }) => kind === "moved")).toHaveLength(39);
    expect(await journal.read(runId)).toHaveLength(2);
  });
}

function readConformance(open: () => Journal): void {
  it("reads a run's own records in stream order, with task ids in their own case", async () => {
    const journal = open();
    const [runId, other] = [fresh("run_"), fresh("run_")];
    await journal.append(intentRecord(runId));
    await journal.append(intentRecord(other));
    await journal.append(dispatchRecord(runId, "T-002", 1));
    await journal.append(claimRecord(runId, "T-002", 1, "as_one"));
    const records = await journal.read(runId);
    expect(records.map((record) => [record.type, record.taskId, record.epoch])).toEqual([
      ["intent", null, 0],
      ["dispatch", "T-002", 1],
      ["claim", "T-002", 1],
    ]);
    expect(records.map((record) => record.seq)).toEqual([...records.map((r) => r.seq)].sort((a, b) => a - b));
    expect(records.every((record) => record.at instanceof Date && record.digest.startsWith("sha256-"))).toBe(
      true,
    );
    expect(await journal.read(fresh("run_"))).toEqual([]);
  });

  it("finds one register, or null", async () => {
    const journal = open();
    const runId = fresh("run_");
    await journal.append(claimRecord(runId, "T-001", 3, "as_one"));
    expect(await journal.find("claim", runId, "T-001", 3)).toMatchObject({
      epoch: 3,
      body: { associate: "as_one" },
    });
    expect(await journal.find("claim", runId, "T-001", 2)).toBeNull();
  });

  it("tails past and new records once and in order, from a sequence on, until aborted", async () => {
    const journal = open();
    const runId = fresh("run_");
    await journal.append(intentRecord(runId));
    const second = recordOf(await journal.append(dispatchRecord(runId, "T-001", 1)));
    const stop = new AbortController();
    const seen: StoredRecord[] = [];
    for await (const record of journal.tail(runId, { fromSeq: second.seq, signal: stop.signal })) {
      seen.push(record);
      if (record.epoch < 4) await journal.append(dispatchRecord(runId, "T-001", record.epoch + 1));
      else stop.abort();
    }
    expect(seen.map((record) => record.epoch)).toEqual([1, 2, 3, 4]);
  });

  it("lists the ids of its runs", async () => {
    const journal = open();
    const [first, second] = [fresh("run_"), fresh("run_")];
    await journal.append(intentRecord(first));
    await journal.append(intentRecord(second));
    expect(await journal.runIds()).toEqual(expect.arrayContaining([first, second]));
  });
}

function kvConformance(open: () => Kv): void {
  it("creates a key once, and updates it only at the named revision", async () => {
    const kv = open();
    const key = fresh("k");
    expect(await kv.get(key)).toBeNull();
    expect(await kv.create(key, { n: 1 })).toBe(true);
    expect(await kv.create(key, { n: 2 })).toBe(false);
    const first = await kv.get<{ n: number }>(key);
    expect(first?.value).toEqual({ n: 1 });
    expect(await kv.update(key, { n: 3 }, (first?.revision ?? 0) + 100)).toBeNull();
    const revision = await kv.update(key, { n: 4 }, first?.revision ?? 0);
    expect(await kv.get(key)).toEqual({ value: { n: 4 }, revision });
  });

  it("exactly one of many creators wins", async () => {
    const kv = open();
    const key = fresh("k");
    const won = await Promise.all(Array.from({ length: 20 }, (_, n) => kv.create(key, { n })));
    expect(won.filter(Boolean)).toHaveLength(1);
    expect((await kv.get<{ n: number }>(key))?.value.n).toBe(won.indexOf(true));
  });

  it("overwrites, deletes, and can create again", async () => {
    const kv = open();
    const key = fresh("k");
    await kv.put(key, "one");
    await kv.put(key, "two");
    expect((await kv.get(key))?.value).toBe("two");
    const at = await kv.put(key, "three", (await kv.get(key))?.revision);
    expect(await kv.put(key, "four", at - 1)).toBe((await kv.get(key))?.revision); // Another writer came in between.
    expect((await kv.get(key))?.value).toBe("four");
    await kv.delete(key);
    expect(await kv.get(key)).toBeNull();
    expect(await kv.create(key, "five")).toBe(true);
  });

  it("lists keys, all or under a dotted prefix", async () => {
    const kv = open();
    const run = fresh("run_");
    await kv.put(`${run}.router`, 1);
    await kv.put(`${run}.T-001`, 2);
    expect((await kv.keys(run)).sort()).toEqual([`${run}.T-001`, `${run}.router`]);
    expect(await kv.keys()).toEqual(expect.arrayContaining([`${run}.router`]));
  });

  it("refuses a key that would match others", async () => {
    const kv = open();
    for (const key of ["a.*", ">", "a..b", "", "a b"]) {
      await expect((async () => kv.put(key, 1))()).rejects.toMatchObject({ code: "ANT_CONTRACT_INVALID" });
    }
  });
}

function blobConformance(open: () => Blobs): void {
  it("runtime/J9: returns the bytes it was given, of any size", async () => {
    const blobs = open();
    for (const size of [0, 1, 131_072, 131_073, 1_000_000]) {
      const bytes = Buffer.alloc(size, fresh(""));
      const ref = await blobs.put(null, bytes);
      expect(ref).toMatchObject({ bucket: blobs.bucket, name: ref.digest, bytes: size });
      expect((await blobs.get(ref)).equals(bytes)).toBe(true);
    }
  });

  it("runtime/J9: the same bytes again change nothing, other bytes under the name are refused", async () => {
    const blobs = open();
    const name = `${fresh("n")}.tar`;
    const first = await blobs.put(name, Buffer.from("one"));
    expect(await blobs.put(name, Buffer.from("one"))).toEqual(first);
    await expect(blobs.put(name, Buffer.from("two"))).rejects.toMatchObject({ code: "ANT_BLOB_CONFLICT" });
    expect((await blobs.get(name)).toString()).toBe("one");
  });

  it("many writers of the same bytes all succeed and leave one object", async () => {
    const blobs = open();
    const name = fresh("n");
    const refs = await Promise.all(
      Array.from({ length: 8 }, () => blobs.put(name, Buffer.alloc(300_000, 3))),
    );
    expect(new Set(refs.map((ref) => ref.digest)).size).toBe(1);
    expect((await blobs.get(name)).length).toBe(300_000);
  });

  it("refuses a reference with another digest", async () => {
    const blobs = open();
    const ref = await blobs.put(null, Buffer.from(fresh("x")));
    const wrong = { ...ref, digest: `sha256-${"A".repeat(43)}` };
    await expect(blobs.get(wrong)).rejects.toMatchObject({ code: "ANT_BLOB_CORRUPT" });
  });

  it("streams in and out, in pieces of any size", async () => {
    const blobs = open();
    const name = fresh("n");
    const pieces = [1, 200_000, 131_072, 7].map((size, index) => Buffer.alloc(size, index + 1));
    const ref = await blobs.putStream(name, async function* () {
      for (const piece of pieces) yield await Promise.resolve(piece);
    });
    const parts: Buffer[] = [];
    for await (const part of blobs.stream(ref)) parts.push(part);
    expect(Buffer.concat(parts).equals(Buffer.concat(pieces))).toBe(true);
    expect(await blobs.has(name)).toBe(true);
    expect(await blobs.want(name)).toBe(true);
  });

  it("answers a missing object with a coded error", async () => {
    const blobs = open();
    expect(await blobs.has(fresh("n"))).toBe(false);
    expect(await blobs.want(fresh("n"))).toBe(false);
    await expect(blobs.get(fresh("n"))).rejects.toMatchObject({ code: "ANT_BLOB_MISSING" });
  });
}

function recordOf(result: Awaited<ReturnType<Journal["append"]>>): StoredRecord {
  return result.kind === "conflict" ? result.existing : result.record;
}
