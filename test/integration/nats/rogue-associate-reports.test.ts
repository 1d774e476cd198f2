/**
 * runtime/J14: an Associate that was taken over, with the NATS user that all Associates share, reports an attempt that another
 * Associate claimed. Judged by what services read.
 */
import { headers, type NatsConnection } from "@nats-io/nats-core";
import { HEADERS, digestOf, encode, subjects } from "@antiphon/contracts";
import type { NewRecord, ResultBody, StoredRecord } from "@antiphon/contracts";
import { claimRecord, dispatchRecord, reportedBody, resultRecord } from "@antiphon/contracts/testing/records";
import { consume, createLogger, openJournal, openSigningKey } from "@antiphon/runtime";
import type { Bus, Journal, SigningKey } from "@antiphon/runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signRecord } from "../../../runtime/src/process/signing-key.ts";
import { eventually } from "../../support/nats.ts";
import { startProvisioned, type UsersServer } from "../../support/nats-users.ts";

const TASK = "T-001";

let server: UsersServer;
let rogue: NatsConnection;
let director: Bus;
const holderKey = openSigningKey(null);
const rogueKey = openSigningKey(null);
let holder: Journal;

beforeAll(async () => {
  server = await startProvisioned();
  director = await server.bus("director");
  holder = openJournal(await server.bus("associate"), { reporter: holderKey });
  rogue = await server.client("associate");
});

afterAll(() => server.close());

const report = (runId: string, key: string): NewRecord =>
  resultRecord(runId, TASK, 1, reportedBody(TASK, { status: "ok", key: `${runId}.${key}` }));

const honest = (runId: string): NewRecord => report(runId, "true");
const forged = (runId: string): NewRecord => report(runId, "forged");

const claimOf = (runId: string, key: SigningKey | null, associate = "as_1"): NewRecord =>
  claimRecord(runId, TASK, 1, associate, key?.jwk);

/** Dispatched by a Director and claimed by the holder. */
async function claimed(runId: string, key: SigningKey | null = holderKey): Promise<void> {
  await openJournal(director).append(dispatchRecord(runId, TASK, 1));
  await holder.append(claimOf(runId, key));
}

const digestOfRecord = (record: NewRecord): string => digestOf(encode({ v: 1, ...record }));
const signatureOf = (key: SigningKey, record: NewRecord): string => signRecord(key, digestOfRecord(record));

/** Publishes a record without the expectation that guards its register. */
async function attack(record: NewRecord, signature = "", more: Record<string, string> = {}): Promise<number> {
  const fields = headers();
  const all = { [HEADERS.digest]: digestOfRecord(record), [HEADERS.signature]: signature, ...more };
  for (const [name, value] of Object.entries(all)) if (value !== "") fields.set(name, value);
  const answer = await rogue.request(subjects.journal(record), encode({ v: 1, ...record }), {
    headers: fields,
    timeout: 5_000,
  });
  return answer.json<{ seq: number }>().seq;
}

/** The run as a service reads it that has read nothing of it before. */
async function fresh(runId: string): Promise<StoredRecord[]> {
  return openJournal(await server.bus("director")).read(runId);
}

const evidenceOf = (record: StoredRecord | null | undefined): string =>
  record?.type === "result" && record.body.kind === "reported" ? record.body.evidence.key : "none";

const typesOf = (records: readonly StoredRecord[]): string[] => records.map(({ type }) => type);

/** Signatures that a rogue Associate can put on its report. */
const SIGNATURES: Record<string, (record: NewRecord) => Promise<string>> = {
  "without a signature": () => Promise.resolve(""),
  "under a signature that is none": () => Promise.resolve("x"),
  "signed with a key of its own": (record) => Promise.resolve(signatureOf(rogueKey, record)),
  "signed with a key of its own under the holder's thumbprint": (record) =>
    Promise.resolve(`${holderKey.jwk.kid}.${signatureOf(rogueKey, record).split(".")[1]}`),
  "under the holder's signature of another report": async (record) => {
    const other = `${record.runId}other`;
    await claimed(other);
    await holder.append(honest(other));
    return (await openJournal(director).find("result", other, TASK, 1))?.signature ?? "";
  },
};

describe.each(Object.keys(SIGNATURES))("runtime/J14: a foreign report %s", (how) => {
  const sign = SIGNATURES[how] ?? (() => Promise.resolve(""));
  const slug = Object.keys(SIGNATURES).indexOf(how);

  it("before the holder's is no record, is counted, and leaves the register to the holder", async () => {
    const runId = `run_before${slug}`;
    await claimed(runId);
    await attack(forged(runId), await sign(forged(runId)));
    const before = director.forged.total;
    expect(await openJournal(director).find("result", runId, TASK, 1)).toBeNull();
    expect(director.forged.total).toBe(before + 1);
    expect(typesOf(await fresh(runId))).toEqual(["dispatch", "claim"]);
    expect(await holder.append(honest(runId))).toMatchObject({ kind: "appended" });
    expect(evidenceOf(await openJournal(director).find("result", runId, TASK, 1))).toBe(`${runId}.true`);
    expect((await fresh(runId)).map(evidenceOf)).toEqual(["none", "none", `${runId}.true`]);
  });

  it("after the holder's hides nothing", async () => {
    const runId = `run_after${slug}`;
    await claimed(runId);
    await holder.append(honest(runId));
    const before = await fresh(runId);
    await attack(forged(runId), await sign(forged(runId)));
    expect(await fresh(runId)).toEqual(before);
    expect(evidenceOf(await holder.find("result", runId, TASK, 1))).toBe(`${runId}.true`);
  });
});

describe("runtime/J14: who may report an attempt", () => {
  it("not the writer of a second claim, whose report the first claim's key did not sign", async () => {
    for (const runId of ["run_secondbefore", "run_secondafter"]) {
      await claimed(runId);
      if (runId === "run_secondafter") await holder.append(honest(runId));
      await attack(claimOf(runId, rogueKey, "as_rogue"));
      await attack(forged(runId), signatureOf(rogueKey, forged(runId)));
      if (runId === "run_secondbefore") await holder.append(honest(runId));
      const records = await fresh(runId);
      expect(records.map(evidenceOf)).toEqual(["none", "none", `${runId}.true`]);
      expect(records[1]).toMatchObject({ type: "claim", body: { associate: "as_1" } });
    }
  });

  it("not the writer of a second claim without a key", async () => {
    await claimed("run_keyless");
    await attack(claimOf("run_keyless", null, "as_rogue"));
    await attack(forged("run_keyless"));
    expect((await fresh("run_keyless")).map(evidenceOf)).not.toContain("run_keyless.forged");
  });

  it("not the writer of a report that says it was stored before the claim", async () => {
    await claimed("run_dated");
    await attack(forged("run_dated"), "", { [HEADERS.restored]: `1:${new Date(0).toISOString()}` });
    expect(typesOf(await fresh("run_dated"))).toEqual(["dispatch", "claim"]);
  });

  it("neither by `abandoned`", async () => {
    await claimed("run_abandoned");
    const body: ResultBody = { kind: "abandoned", associate: "as_1", code: "ANT_INTERNAL", message: "no" };
    await attack(resultRecord("run_abandoned", TASK, 1, body));
    expect(typesOf(await fresh("run_abandoned"))).toEqual(["dispatch", "claim"]);
  });

  it("any Associate, if the holder's lease has expired: `lapsed` needs no signature", async () => {
    await claimed("run_lapsed");
    const body: ResultBody = { kind: "lapsed", observer: "as_2", holder: "as_1" };
    await attack(resultRecord("run_lapsed", TASK, 1, body));
    expect((await fresh("run_lapsed")).at(-1)).toMatchObject({ type: "result", body: { kind: "lapsed" } });
  });

  it("nobody a second time: a `lapsed` after the holder's report hides nothing", async () => {
    await claimed("run_late");
    await holder.append(honest("run_late"));
    const before = await fresh("run_late");
    const body: ResultBody = { kind: "lapsed", observer: "as_2", holder: "as_1" };
    await attack(resultRecord("run_late", TASK, 1, body));
    expect(await fresh("run_late")).toEqual(before);
    expect(evidenceOf(await holder.find("result", "run_late", TASK, 1))).toBe("run_late.true");
  });

  it("an Associate of an older version, whose claim names no key and whose report is not signed", async () => {
    await claimed("run_older", null);
    await attack(forged("run_older"));
    expect((await fresh("run_older")).map(evidenceOf)).toContain("run_older.forged");
  });

  it("a report that was believed before anybody claimed the attempt stays the report", async () => {
    await openJournal(director).append(dispatchRecord("run_unclaimed", TASK, 1));
    await attack(forged("run_unclaimed"));
    await holder.append(claimOf("run_unclaimed", holderKey));
    expect((await fresh("run_unclaimed")).map(evidenceOf)).toContain("run_unclaimed.forged");
  });
});

/** Messages that are no record of their register, as [payload, headers]. */
const NO_RECORDS: Record<string, (record: NewRecord) => [Uint8Array | string, Record<string, string>]> = {
  "that cannot be decoded": () => ["{}", {}],
  "that is empty": () => ["", {}],
  "with the digest of other bytes": (record) => [
    encode({ v: 1, ...record }),
    { [HEADERS.digest]: digestOf(encode("other")) },
  ],
  "that says it belongs to another run": (record) => [encode({ v: 1, ...record, runId: "run_other" }), {}],
  "without the fields of its type": (record) => [encode({ v: 1, ...record, body: {} }), {}],
  "with a first place that is none": (record) => [
    encode({ v: 1, ...record }),
    { [HEADERS.restored]: "yesterday" },
  ],
};

describe.each(Object.keys(NO_RECORDS))("runtime/J14: a message %s", (what) => {
  const slug = Object.keys(NO_RECORDS).indexOf(what);

  async function disturb(record: NewRecord): Promise<void> {
    const [payload, more] = NO_RECORDS[what]?.(record) ?? ["", {}];
    const fields = headers();
    for (const [name, value] of Object.entries(more)) fields.set(name, value);
    await rogue.request(subjects.journal(record), payload, { headers: fields, timeout: 5_000 });
  }

  it("on the register of a claim or a result, before or after the record, leaves the run readable", async () => {
    const runId = `run_noise${slug}`;
    const claim = claimOf(runId, holderKey);
    await openJournal(director).append(dispatchRecord(runId, TASK, 1));
    for (const record of [claim, honest(runId)]) {
      await disturb(record);
      expect(await holder.append(record)).toMatchObject({ kind: "appended" });
      await disturb(record);
      expect((await openJournal(director).find(record.type, runId, TASK, 1))?.digest).toBe(
        digestOfRecord(record),
      );
    }
    expect((await fresh(runId)).map(evidenceOf)).toEqual(["none", "none", `${runId}.true`]);
  });

  it("on the register of an attempt that nobody dispatched leaves the run readable", async () => {
    const runId = `run_nowhere${slug}`;
    await claimed(runId);
    await disturb(claimRecord(runId, "T-999", 7, "as_rogue"));
    await disturb(report(runId, "forged"));
    expect(typesOf(await fresh(runId))).toEqual(["dispatch", "claim"]);
  });
});

it("runtime/J14: a consumer is not handed a foreign report, and the server does not deliver it again", async () => {
  const abort = new AbortController();
  const heard: string[] = [];
  const consumption = consume(director, {
    consumer: "director",
    slots: 4,
    log: createLogger("test", { level: "silent" }),
    signal: abort.signal,
    handle({ record }) {
      if (record.runId === "run_heard")
        heard.push(record.type === "result" ? evidenceOf(record) : record.type);
      return Promise.resolve({ kind: "done" });
    },
  });
  for (const type of ["claim", "result"] as const)
    await rogue.request(
      subjects.journal({ type, runId: "run_heard", taskId: TASK, epoch: 1 }),
      "no record of anything",
    );
  await claimed("run_heard");
  await attack(forged("run_heard"), signatureOf(rogueKey, forged("run_heard")));
  await holder.append(honest("run_heard"));
  await eventually("the holder's report is heard", () => heard.includes("run_heard.true"));
  expect(heard).toEqual(["claim", "run_heard.true"]);
  await eventually("all is acknowledged", async () => {
    const { num_ack_pending, num_pending } = await director.jsm.consumers.info("ANT_JOURNAL_0", "director");
    return num_ack_pending + num_pending === 0;
  });
  expect(
    (await director.jsm.streams.info("ANT_DLQ", { subjects_filter: "antiphon.v1.dlq.*.*.run_heard.>" })).state
      .subjects ?? {},
  ).toEqual({});
  await consumption.drain();
});
