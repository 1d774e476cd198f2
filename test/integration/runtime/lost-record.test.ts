/** Tests on a real server that a lost record returns to its place, or nothing is written at all. */
import {
  AntiphonError,
  HEADERS,
  journalStream,
  type NewRecord,
  type StoredRecord,
} from "@antiphon/contracts";
import {
  openJournal,
  openSigningKey,
  provision,
  putBackLost,
  type Bus,
  type Journal,
  type LostRecord,
} from "@antiphon/runtime";
import { finishRun } from "@antiphon/runtime/testing/finished-run";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startNats, type NatsServer } from "../../support/nats.ts";

const STREAM = journalStream(0);
const key = openSigningKey(null);
let server: NatsServer;
let bus: Bus;
let journal: Journal;
let count = 0;

beforeAll(async () => {
  server = await startNats();
  bus = await server.connect();
  await provision(bus);
  journal = openJournal(bus, { key });
});
afterAll(() => server.close());

type Landing = Extract<StoredRecord, { type: "landing" }>;

/** A finished run whose landing is missing, and that landing as derived from the remaining records. */
async function damaged(): Promise<{ before: StoredRecord[]; landing: Landing; lost: LostRecord }> {
  const runId = `run_lost${(count += 1)}`;
  await finishRun(journal, runId);
  const before = await journal.read(runId);
  const landing = before.find((record): record is Landing => record.type === "landing");
  if (landing === undefined) throw new Error("a finished run has landed");
  await bus.jsm.streams.deleteMessage(STREAM, landing.seq);
  const { type, taskId, epoch, cause, body, seq, digest } = landing;
  const at = before.at(-1)?.at ?? new Date(0);
  return { before, landing, lost: { record: { type, runId, taskId, epoch, cause, body }, seq, at, digest } };
}

const stored = async (): Promise<[number, number]> => {
  const { state } = await bus.jsm.streams.info(STREAM);
  return [state.messages, state.last_seq];
};

/** Every way in which a derivation can be wrong. */
const WRONG: Readonly<Record<string, (record: NewRecord) => unknown>> = {
  "another commit": (record) => ({
    ...record,
    body: { ...(record as Landing).body, commit: "d".repeat(40) },
  }),
  "another branch": (record) => ({
    ...record,
    body: { ...(record as Landing).body, ref: "refs/heads/other" },
  }),
  "another cause": (record) => ({
    ...record,
    cause: { seq: (record.cause?.seq ?? 0) + 1, digest: record.cause?.digest },
  }),
  "no cause": (record) => ({ ...record, cause: null }),
  "another epoch": (record) => ({ ...record, epoch: record.epoch + 1 }),
  "another task": (record) => ({ ...record, taskId: "T-002" }),
  "another run": (record) => ({ ...record, runId: `${record.runId}x` }),
};

test.each(Object.entries(WRONG))(
  "refuses a derivation with %s by a code, and writes nothing",
  async (_, spoil) => {
    const { lost } = await damaged();
    const then = await stored();
    const record = spoil(lost.record) as NewRecord;
    const refused = await putBackLost(bus, key, { ...lost, record }).catch((error: unknown) => error);
    expect(AntiphonError.from(refused)).toMatchObject({ code: "ANT_JOURNAL_GAP" });
    expect((refused as AntiphonError).detail).toContain(lost.digest);
    expect(await stored()).toEqual(then);
  },
);

test("refuses correct bytes under a digest that no record names", async () => {
  const { before, lost } = await damaged();
  const then = await stored();
  const refused = putBackLost(bus, key, { ...lost, digest: before[0]?.digest ?? "" });
  await expect(refused).rejects.toMatchObject({ code: "ANT_JOURNAL_GAP" });
  expect(await stored()).toEqual(then);
});

test("puts a record with the named digest back with its sequence, digest, bytes and a valid signature", async () => {
  const { before, landing, lost } = await damaged();
  expect(await journal.read(landing.runId)).toHaveLength(before.length - 1);
  expect(await putBackLost(bus, key, lost)).toBe(true);
  const after = await journal.read(landing.runId);
  expect(after.map(({ digest }) => digest)).toEqual(before.map(({ digest }) => digest));
  expect(after.map(({ seq }) => seq)).toEqual(before.map(({ seq }) => seq));
  const { at, ...back } = after.find(({ type }) => type === "landing") ?? { at: null };
  const { at: _, ...was } = landing;
  expect(back).toEqual(was); // Its own time is lost too; it has that of the record which names it.
  expect(at).toEqual(lost.at);
});

test("leaves a register that has its record again unchanged, and says so", async () => {
  const { lost } = await damaged();
  expect(await putBackLost(bus, key, lost)).toBe(true);
  const then = await stored();
  expect(await putBackLost(bus, key, lost)).toBe(false);
  expect(await putBackLost(bus, openSigningKey(null), lost)).toBe(false); // Another Director's key makes no difference.
  expect(await stored()).toEqual(then);
});

test("leaves a register that holds another record unchanged, and reports a conflict", async () => {
  const { landing, lost } = await damaged();
  const body = {
    kind: "refused" as const,
    code: "ANT_LANDING_HEAD_MOVED" as const,
    message: "somebody was faster",
  };
  const other = await journal.append({ ...lost.record, type: "landing", body });
  expect(other.kind).toBe("appended");
  const then = await stored();
  await expect(putBackLost(bus, key, lost)).rejects.toMatchObject({ code: "ANT_JOURNAL_CONFLICT" });
  expect(await stored()).toEqual(then);
  expect((await journal.find("landing", landing.runId, "T-001", 1))?.body).toEqual(body);
});

test("only one of many simultaneous calls writes the record; the register holds it once", async () => {
  const { before, landing, lost } = await damaged();
  const [messages] = await stored();
  const buses = await Promise.all(Array.from({ length: 4 }, () => server.connect()));
  const said = await Promise.all(
    Array.from({ length: 12 }, (_, i) => putBackLost(buses[i % 4] ?? bus, key, lost)),
  );
  expect(said.filter((wrote) => wrote)).toHaveLength(1);
  expect((await stored())[0]).toBe(messages + 1);
  const message = await bus.reader.last(STREAM, landing.subject);
  expect(message?.header(HEADERS.restored)).toBe(`${landing.seq}:${lost.at.toISOString()}`);
  expect((await journal.read(landing.runId)).map(({ digest }) => digest)).toEqual(
    before.map(({ digest }) => digest),
  );
});
