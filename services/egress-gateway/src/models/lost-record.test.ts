import { expect, test } from "vitest";
import { AntiphonError, limits, type BlobRef, type ModelRecording } from "@antiphon/contracts";
import { isWhole, lostRecord, type RecordPorts } from "./lost-record.ts";

const AT = { run: "run_x", task: "T-001", epoch: 1 };
const call = (name: string, bytes = 1): BlobRef => ({ bucket: "b", name, digest: name, bytes });

function recorded(content: string, more: Partial<ModelRecording["response"]> = {}): ModelRecording {
  return {
    v: 1,
    request_digest: `sha256-${"a".repeat(43)}`,
    request: { host: "models.example", path: "/v1/x", body: { messages: [{ role: "user", content }] } },
    response: { status: 200, content_type: null, text: content, truncated: false, ...more },
    model: "m",
    charged: { tokens: 1, usd_micro: 1 },
  };
}

/** Each recording says its own name. */
function portsOf(calls: readonly BlobRef[], more: Partial<RecordPorts> = {}) {
  const warned: unknown[] = [];
  const read: string[] = [];
  const ports: RecordPorts = {
    lists: { of: () => Promise.resolve({ calls }) },
    read: ({ name }) => {
      read.push(name);
      return Promise.resolve(Buffer.from(JSON.stringify(recorded(name))));
    },
    log: { warn: (said: unknown) => void warned.push(said) },
    ...more,
  };
  return { ports, warned, read };
}

test("of the calls of a lost attempt the oldest that fit are read, each once, and no other", async () => {
  const third = limits.resumedBytes / 3;
  const { ports, read } = portsOf([
    call("1", third),
    call("2", third),
    call("3", third),
    call("4"),
    call("5"),
  ]);
  const record = await lostRecord(AT, ports);
  expect(record?.recordings.map(({ response }) => response.text)).toEqual(["1", "2", "3"]);
  expect(record?.calls.map(({ name }) => name)).toEqual(["1", "2", "3"]);
  expect(read).toEqual(["1", "2", "3"]);
});

test("others have their turn between one recording and the next", async () => {
  const { ports } = portsOf(Array.from({ length: 40 }, (_, i) => call(String(i))));
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await lostRecord(AT, ports);
  isOver = true;
  expect(turns).toBeGreaterThanOrEqual(39);
});

test.each<[string, Partial<RecordPorts>, string]>([
  [
    "a list that cannot be read",
    { lists: { of: () => Promise.reject(new AntiphonError("ANT_RPC_TIMEOUT", "no answer")) } },
    "ANT_RPC_TIMEOUT",
  ],
  [
    "a recording that is gone",
    { read: () => Promise.reject(new AntiphonError("ANT_BLOB_MISSING", "gone")) },
    "ANT_BLOB_MISSING",
  ],
  [
    "a recording that is something else",
    { read: () => Promise.resolve(Buffer.from("{}")) },
    "ANT_REPLAY_NO_RECORD",
  ],
  [
    "a store that does not answer",
    { readMs: 20, read: () => new Promise(() => undefined) },
    "ANT_RPC_TIMEOUT",
  ],
])("%s is logged, and the attempt goes on from nothing", async (_what, more, code) => {
  const { ports, warned } = portsOf([call("1"), call("2")], more);
  expect(await lostRecord(AT, ports)).toBeNull();
  expect(warned).toMatchObject([{ ...AT, err: { code } }]);
});

test("what was read before the time is over, or before a recording that is gone, is gone on from", async () => {
  const calls = ["1", "2", "3"].map((name) => call(name));
  const upTo = async (third: Promise<Buffer>) => {
    const { ports, warned } = portsOf(calls, { readMs: 200 });
    const read: RecordPorts["read"] = (one, signal) => (one.name === "3" ? third : ports.read(one, signal));
    const record = await lostRecord(AT, { ...ports, read });
    expect(record?.calls.map(({ name }) => name)).toEqual(["1", "2"]);
    expect(record?.recordings.map(({ response }) => response.text)).toEqual(["1", "2"]);
    return warned;
  };
  expect(await upTo(new Promise(() => undefined))).toMatchObject([
    { calls: 2, err: { code: "ANT_RPC_TIMEOUT" } },
  ]);
  const gone = new AntiphonError("ANT_BLOB_MISSING", "gone");
  expect(await upTo(Promise.reject(gone))).toMatchObject([{ calls: 2, err: { code: "ANT_BLOB_MISSING" } }]);
});

test("an attempt that was lost before a call of its own hands on none of the answers that it was given", async () => {
  const lists = { of: () => Promise.resolve({ calls: [call("1")], isResumed: true }) };
  const { ports, read, warned } = portsOf([], { lists });
  expect(await lostRecord(AT, ports)).toBeNull();
  expect([read, warned]).toEqual([[], []]);
});

test.each([
  [{ status: 200, truncated: false }, true],
  [{ status: 200, truncated: false, whole: false }, false],
  [{ status: 200, truncated: true }, false],
  [{ status: 429, truncated: false }, false],
  [{ status: 0, truncated: false }, false],
])("of the answers only whole ones are gone on from: %j", (response, expected) => {
  expect(isWhole({ response } as ModelRecording)).toBe(expected);
});
