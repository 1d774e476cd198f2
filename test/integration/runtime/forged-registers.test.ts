/** A forged decision has no effect on readers and writers of the journal, and it is reported. */
import { HEADERS, digestOf, encode, journalStream, rawRecord, subjects } from "@antiphon/contracts";
import type { NewRecord } from "@antiphon/contracts";
import { proveRun } from "@antiphon/run";
import {
  openJournal,
  openJournalAudit,
  openRunArchive,
  openRunRestore,
  openSigningKey,
  pinnedTrust,
  provision,
} from "@antiphon/runtime";
import type { Bus, Journal } from "@antiphon/runtime";
import { finishRun, openRun } from "@antiphon/runtime/testing/finished-run";
import {
  claimRecord,
  closedRecord,
  dispatchRecord,
  intentRecord,
  landingRecord,
  reportedBody,
  resultRecord,
  verdictRecord,
} from "@antiphon/contracts/testing/records";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signRecord } from "../../../runtime/src/process/signing-key.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";
import { journalMessages, publishRaw } from "../../support/planted-journal.ts";

const key = openSigningKey(null);
const trust = pinnedTrust([key.jwk]);
let nats: NatsServer;
let bus: Bus;
/** A Director's connection. */
let journal: Journal;
/** Another process's connection, with an empty memory. */
let reader: Journal;

beforeAll(async () => {
  nats = await startNats();
  bus = await nats.connect({ trust });
  await provision(bus);
  journal = openJournal(bus, { key });
  reader = openJournal(await nats.connect({ trust }));
});
afterAll(() => nats.close());

async function forge(record: NewRecord, headers: Record<string, string> = {}): Promise<void> {
  const data = encode({ v: 1, ...record });
  const named = { [HEADERS.digest]: digestOf(data), ...headers };
  await publishRaw(bus, [{ subject: subjects.journal(record), seq: 0, data, headers: named }]);
}

const over = (runId: string): NewRecord[] => [
  verdictRecord(runId, "T-001", 1),
  landingRecord(runId, "T-001", 1),
  closedRecord(runId, { status: "canceled" }),
];

test("runtime/J14: an intent opens its run behind messages forged under its name", async () => {
  await forge(closedRecord("run_early"));
  expect(await journal.append(intentRecord("run_early"))).toMatchObject({ kind: "appended" });
  expect(await journal.append(intentRecord("run_early"))).toMatchObject({ kind: "duplicate" });
  expect((await reader.read("run_early")).map(({ type }) => type)).toEqual(["intent"]);
});

test("appendIfUnmoved passes over a forged decision, and not over a genuine record", async () => {
  const { record } = (await journal.append(intentRecord("run_after"))) as { record: { seq: number } };
  await forge(verdictRecord("run_after", "T-001", 1));
  const next = await journal.appendIfUnmoved(dispatchRecord("run_after", "T-001", 1), record.seq);
  expect(next).toMatchObject({ kind: "appended", record: { after: record.seq } });
  await forge(verdictRecord("run_after", "T-001", 2));
  const late = await journal.appendIfUnmoved(dispatchRecord("run_after", "T-001", 2), record.seq);
  expect(late).toEqual({ kind: "moved" });
});

test("runtime/J14: a forged end closes no run: it stays open until its genuine end is stored", async () => {
  await openRun(journal, "run_open");
  await forge(closedRecord("run_open"));
  expect(await reader.openRunIds()).toContain("run_open");
  expect(await reader.find("closed", "run_open", null, 0)).toBeNull();
  const ending = closedRecord("run_open", { status: "failed" });
  expect(await journal.append(ending)).toMatchObject({ kind: "appended" });
  expect(await reader.openRunIds()).not.toContain("run_open");
  await forge(closedRecord("run_open", { status: "canceled" }));
  expect(await openJournal(await nats.connect({ trust })).openRunIds()).not.toContain("run_open");
  expect(await reader.find("closed", "run_open", null, 0)).toMatchObject({ body: { status: "failed" } });
});

test("a tail passes over forged decisions", async () => {
  await openRun(journal, "run_tail");
  for (const record of over("run_tail")) await forge(record);
  await journal.append({ ...closedRecord("run_tail"), cause: null });
  const seen: string[] = [];
  for await (const record of reader.tail("run_tail", { signal: AbortSignal.timeout(10_000) })) {
    seen.push(`${record.type} ${record.signature === undefined ? "" : "signed"}`.trim());
    if (record.type === "closed") break;
  }
  expect(seen).toEqual(["intent", "routed", "dispatch", "closed signed"]);
});

test("runtime/J14: a forged decision in one part of a long run hides none of the records before the genuine one", async () => {
  const runId = "run_long";
  await openRun(journal, runId);
  await forge(verdictRecord(runId, "T-001", 1));
  const more = Array.from({ length: 2_600 }, (_, at) => dispatchRecord(runId, "T-002", at + 1));
  await Promise.all(more.map((record) => journal.append(record)));
  await journal.append(verdictRecord(runId, "T-001", 1));
  const whole = (await reader.read(runId)).map(({ seq }) => seq);
  expect(whole.length).toBeGreaterThan(2_600);
  const inParts: number[] = [];
  for await (const part of reader.parts(runId)) inParts.push(...part.map(({ seq }) => seq));
  expect(inParts).toEqual(whole);
  const tailed: number[] = [];
  const stop = new AbortController();
  for await (const { seq } of reader.tail(runId, { signal: stop.signal }))
    if (tailed.push(seq) === whole.length) stop.abort();
  expect(tailed).toEqual(whole);
});

test("runtime/J14: a claim written over another one is not read from a long run, in whichever part it is", async () => {
  const runId = "run_claimed";
  await openRun(journal, runId);
  const own = claimRecord(runId, "T-001", 1, "as_own");
  await journal.append(own);
  const more = Array.from({ length: 2_600 }, (_, at) => dispatchRecord(runId, "T-002", at + 1));
  await Promise.all(more.map((record) => journal.append(record)));
  await forge(claimRecord(runId, "T-001", 1, "as_rogue"));
  const claims: unknown[] = [];
  for await (const part of reader.parts(runId))
    claims.push(...part.filter(({ type }) => type === "claim").map(({ body }) => body));
  expect(claims).toEqual([own.body]);
});

test("archives and restores a run without its forged messages, which stay as evidence", async () => {
  await finishRun(journal, "run_kept");
  const before = await reader.read("run_kept");
  for (const record of over("run_kept")) await forge(record);
  await openRun(journal, "run_busy");
  await forge(closedRecord("run_busy"));
  const archive = openRunArchive(bus, journal);
  const until = new Date(Date.now() + 60_000);
  const due = await archive.due(until, 100, new Set());
  expect(due.filter((runId) => runId === "run_kept")).toHaveLength(1);
  expect(due).not.toContain("run_busy");
  const packed = await archive.pack(["run_kept"], until);
  expect(packed.refused).toEqual([]);
  await archive.purge(await archive.record(packed));
  expect(await reader.read("run_kept")).toEqual(before);
  const left = (await journalMessages(bus)).filter(({ subject }) => subject.includes(".run_kept."));
  expect(left.map(({ subject }) => subject.split(".")[4]).sort()).toEqual([
    "archived",
    "closed",
    "landing",
    "verdict",
  ]);
  await openRunRestore(bus, journal).restore("run_kept", "test");
  expect(await reader.read("run_kept")).toEqual(before);
});

test("the doctor names each forged decision of a run by register and sequence, and nothing else", async () => {
  const stored = await finishRun(journal, "run_doctor");
  for (const record of over("run_doctor")) await forge(record);
  const audit = openJournalAudit(bus);
  const { messages, ...rest } = await audit.run("run_doctor");
  const records = messages.map((message) => rawRecord(message, message.storedSeq));
  const material = { runId: "run_doctor", records, view: null, ...rest };
  const { faults, closed } = proveRun(material, { doubt: trust.doubt, partitions: 1 });
  const last = stored.at(-1)?.seq ?? 0;
  expect(faults.map(({ kind, code, seq }) => [kind, code, seq])).toEqual(
    [1, 2, 3].map((n) => ["forged", "ANT_SIGNATURE_INVALID", last + n]),
  );
  expect(closed).toBe(true);
});

test("runtime/J14: foreign reports and later claims stay out of a run that is checked and archived, and are removed before it is restored", async () => {
  const holder = openSigningKey(null);
  const rogue = openSigningKey(null);
  const reporting = openJournal(await nats.connect({ trust }), { key, reporter: holder });
  const stored = await finishRun(reporting, "run_held", undefined, holder.jwk);
  const last = stored.at(-1)?.seq ?? 0;
  const before = await reader.read("run_held");
  expect(before.map(({ seq }) => seq)).toEqual(stored.map(({ seq }) => seq));
  const claim = claimRecord("run_held", "T-001", 1, "as_rogue", rogue.jwk);
  const report = resultRecord("run_held", "T-001", 1, reportedBody("T-001", { status: "ok", key: "forged" }));
  const signature = signRecord(rogue, digestOf(encode({ v: 1, ...report })));
  await forge(claim);
  await forge(report, { [HEADERS.signature]: signature });
  expect(await reader.read("run_held")).toEqual(before);

  const { messages, ...rest } = await openJournalAudit(bus).run("run_held");
  const records = messages.map((message) => rawRecord(message, message.storedSeq));
  const material = { runId: "run_held", records, view: null, ...rest };
  const { faults } = proveRun(material, { doubt: trust.doubt, partitions: 1 });
  expect(faults.map(({ kind, seq }) => [kind, seq])).toEqual([
    ["twice", last + 1],
    ["forged", last + 2],
  ]);

  const archive = openRunArchive(bus, journal);
  const packed = await archive.pack(["run_held"], new Date(Date.now() + 60_000));
  expect(packed.refused).toEqual([]);
  await archive.purge(await archive.record(packed));
  const fresh = async (): Promise<Journal> => openJournal(await nats.connect({ trust }));
  const same = await fresh();
  expect(await same.read("run_held")).toEqual(before);
  const restore = openRunRestore(await nats.connect({ trust }), journal);
  await expect(restore.restore("run_held", "test")).rejects.toMatchObject({ code: "ANT_JOURNAL_CONFLICT" });
  expect(await same.read("run_held")).toEqual(before);
  for (const seq of [last + 1, last + 2]) await bus.jsm.streams.deleteMessage(journalStream(0), seq);
  await restore.restore("run_held", "test");
  for (const one of [same, await fresh()]) expect(await one.read("run_held")).toEqual(before);
});

test("runtime/J14: a report that was damaged is no forgery: its run is unreadable", async () => {
  const holder = openSigningKey(null);
  const reporting = openJournal(bus, { key, reporter: holder });
  await finishRun(reporting, "run_spoiled", undefined, holder.jwk);
  const source = (await journalMessages(bus)).filter(({ subject }) => subject.includes(".run_spoiled."));
  const other = await startNats();
  try {
    const there = await other.connect({ trust });
    await provision(there);
    await publishRaw(
      there,
      source.map((message) => ({
        ...message,
        headers: { ...message.headers, [HEADERS.restored]: `${message.seq}:${new Date(0).toISOString()}` },
        data: message.subject.includes(".result.") ? message.data.with(40, 0) : message.data,
      })),
    );
    await expect(openJournal(there).read("run_spoiled")).rejects.toMatchObject({
      code: "ANT_JOURNAL_CORRUPT",
    });
  } finally {
    await other.close();
  }
});

test("runtime/J14: a genuine decision that was damaged is no forgery: its run is unreadable and nothing replaces it", async () => {
  await finishRun(journal, "run_source");
  const source = (await journalMessages(bus)).filter(({ subject }) => subject.includes(".run_source."));
  const other = await startNats();
  try {
    const there = await other.connect({ trust });
    await provision(there);
    const first = source[0]?.seq ?? 1;
    const shifted = source.map((message) => ({
      ...message,
      data: message.subject.includes(".verdict.") ? message.data.with(40, 0) : message.data,
    }));
    for (let seq = 1; seq < first; seq += 1) await publishRaw(there, [{ ...shifted[0]!, seq }]);
    await there.jsm.streams.purge(journalStream(0));
    await publishRaw(there, shifted);
    await expect(openJournal(there).read("run_source")).rejects.toMatchObject({
      code: "ANT_JOURNAL_CORRUPT",
    });
  } finally {
    await other.close();
  }
});
