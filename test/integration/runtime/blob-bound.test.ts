/** A bucket of objects that can be made again, kept within a bound, on a real server. */
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  keepWithin,
  openBlobs,
  provision,
  UploadNotes,
  type Blobs,
  type Bus,
} from "../../../runtime/src/index.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";

const bucket = "ANT_REPOS";
const stream = `OBJ_${bucket}`;
const SIZE = 300_000;
let server: NatsServer;
let bus: Bus;
let blobs: Blobs;

beforeEach(async () => {
  server = await startNats();
  bus = await server.connect();
  await provision(bus);
  blobs = openBlobs(bus, bucket, { mayPurge: true, wantedMs: 0 });
});

afterEach(() => server.close());

const bytesOf = (name: string): Buffer => Buffer.alloc(SIZE, name);
const later = (): Date => new Date(Date.now() + 60_000);
const none = () => Promise.resolve(new Set<string>());

async function fill(...names: string[]): Promise<void> {
  for (const name of names) await blobs.put(name, bytesOf(name));
}

const within = (maxBytes: number, over: Partial<Parameters<typeof keepWithin>[0]> = {}) =>
  keepWithin({ bus, bucket, maxBytes, wantedBefore: later(), mayGo: () => true, kept: none, ...over });

async function left(): Promise<string[]> {
  const found: string[] = [];
  const { state } = await bus.jsm.streams.info(stream, { subjects_filter: `$O.${bucket}.M.*` });
  for (const subject of Object.keys(state.subjects ?? {}))
    found.push(Buffer.from(subject.split(".").at(-1) ?? "", "base64url").toString());
  return found.sort();
}

async function chunkSubjects(): Promise<number> {
  const { state } = await bus.jsm.streams.info(stream, { subjects_filter: `$O.${bucket}.C.*` });
  return Object.keys(state.subjects ?? {}).length;
}

it("removes what was not wanted for longest, until the bucket fits", async () => {
  await fill("a", "b", "c", "d");
  expect(await blobs.want("a")).toBe(true);
  const { removed } = await within(2.2 * SIZE);
  expect(removed.map(({ name }) => name)).toEqual(["b", "c"]);
  expect(await left()).toEqual(["a", "d"]);
  expect(await chunkSubjects()).toBe(2);
  expect((await blobs.get("a")).equals(bytesOf("a"))).toBe(true);
  expect(await blobs.want("b")).toBe(false);
  await blobs.put("b", bytesOf("other")); // The name is free again.
  expect((await blobs.get("b")).equals(bytesOf("other"))).toBe(true);
});

it("spares what is named, what cannot be made again, and what was wanted lately", async () => {
  await fill("named", "commit-1", "old", "recent");
  const { removed, bytes } = await within(0, {
    kept: () => Promise.resolve(new Set(["named"])),
    mayGo: (name) => !name.startsWith("commit-"),
  });
  expect(removed.map(({ name }) => name)).toEqual(["old", "recent"]);
  expect(bytes).toBeGreaterThan(2 * SIZE);
  const before = new Date(Date.now() - 60_000);
  expect((await within(0, { wantedBefore: before })).removed).toEqual([]);
  expect(await left()).toEqual(["commit-1", "named"]);
});

it("reads no names while the bucket fits", async () => {
  await fill("a");
  const kept = () => Promise.reject(new Error("somebody read all runs"));
  expect((await within(2 * SIZE, { kept })).removed).toEqual([]);
});

it("keeps an object that somebody wants between the look and the removal", async () => {
  await fill("a", "b");
  const kept = async (): Promise<Set<string>> => {
    expect(await blobs.want("a")).toBe(true);
    return new Set();
  };
  expect((await within(0, { kept })).removed.map(({ name }) => name)).toEqual(["b"]);
  expect((await blobs.get("a")).equals(bytesOf("a"))).toBe(true);
  expect(await left()).toEqual(["a"]); // No note is left of the removal that was not one.
});

it("two that remove at the same time remove no object twice", async () => {
  const names = Array.from({ length: 12 }, (_, at) => `n${String(at).padStart(2, "0")}`);
  await fill(...names);
  const other = await server.connect();
  const both = await Promise.all([within(0), within(0, { bus: other })]);
  const removed = both.flatMap((one) => one.removed.map(({ name }) => name));
  expect(removed.sort()).toEqual(names);
  expect(await left()).toEqual([]);
  expect(await chunkSubjects()).toBe(0);
});

it("of wanting and removing at the same time, one finds the work of the other", async () => {
  for (let round = 0; round < 20; round += 1) {
    await fill("a");
    const [wanted, { removed }] = await Promise.all([blobs.want("a"), within(0)]);
    // It may be wanted first and removed then; what was removed first is never called there.
    if (removed.length === 0) expect(wanted).toBe(true);
    const isThere = await blobs.has("a");
    expect(isThere).toBe(removed.length === 0);
    if (isThere) expect((await blobs.get("a")).equals(bytesOf("a"))).toBe(true);
    else expect(await blobs.want("a")).toBe(false);
  }
});

it("the chunks of an object go even if the remover is killed after the object", async () => {
  await fill("a", "b");
  const { streams } = bus.jsm;
  const purge: typeof streams.purge = (name, options) => {
    if (options?.filter?.includes(".C.") === true) return Promise.reject(new Error("killed"));
    return streams.purge(name, options);
  };
  const dying = { ...bus.jsm, streams: Object.assign(Object.create(streams) as typeof streams, { purge }) };
  await expect(within(0, { bus: { ...bus, jsm: dying } })).rejects.toThrow("killed");
  expect(await blobs.has("a")).toBe(false);
  expect(await chunkSubjects()).toBe(2);
  await blobs.put("a", bytesOf("a")); // Stored again before the chunks of the first one are gone.
  const notes = new UploadNotes(bus, bucket);
  const unread = (error: Error): never => {
    throw error;
  };
  expect(await notes.removeUnfinished(later(), unread)).toBe(1);
  expect(await left()).toEqual(["a", "b"]);
  expect(await chunkSubjects()).toBe(2);
  expect((await blobs.get("a")).equals(bytesOf("a"))).toBe(true);
});

it("a server that is killed while room is made loses no object half", async () => {
  await fill("a", "b", "c");
  const kept = async (): Promise<Set<string>> => {
    await server.kill();
    await server.restart();
    return new Set();
  };
  await within(1.2 * SIZE, { kept }).catch((error: unknown) => expect(error).toBeInstanceOf(Error));
  await within(1.2 * SIZE);
  expect(await left()).toEqual(["c"]);
  expect((await blobs.get("c")).equals(bytesOf("c"))).toBe(true);
});

it("makes room on a server that is full", async () => {
  await server.close();
  server = await startNats({ maxFileStore: "320MB" });
  bus = await server.connect();
  await provision(bus);
  blobs = openBlobs(bus, bucket, { mayPurge: true });
  const full = async (): Promise<void> => {
    for (let at = 0; ; at += 1) await blobs.put(`n${at}`, Buffer.alloc(30_000_000, at));
  };
  await expect(full()).rejects.toMatchObject({ code: "ANT_NATS_NO_SPACE" });
  expect(await blobs.want("n0")).toBe(true);
  const { removed } = await within(0);
  expect(removed.length).toBeGreaterThan(2);
  await fill("next");
  expect(await left()).toContain("next");
});
