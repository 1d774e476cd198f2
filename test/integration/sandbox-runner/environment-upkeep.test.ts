/** Environments that nobody needs any more, on a real server: which go, which stay, and what a runner still finds. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { BUCKETS, limits, type BlobRef, type EnvironmentReport } from "@antiphon/contracts";
import { openBlobs, openKv, provision, type Blobs, type Bus, type Kv } from "../../../runtime/src/index.ts";
import type { EnvironmentRecord } from "../../../services/sandbox-runner/src/environments/environment-record.ts";
import { removeSurplus } from "../../../services/sandbox-runner/src/environments/environment-upkeep.ts";
import { startNats, type NatsServer } from "../../support/nats.ts";

const NOW = 10 * limits.environmentKeepS * 1000;
const TOO_OLD = NOW - limits.environmentKeepS * 1000 - 1;
const report = { key: "k", duration_ms: 1 } as EnvironmentReport;

let server: NatsServer;
let bus: Bus;
let records: Kv;
let layers: Blobs;

beforeAll(async () => {
  server = await startNats();
  bus = await server.connect();
  await provision(bus);
  records = openKv(bus, BUCKETS.environments);
  layers = openBlobs(bus, BUCKETS.layers, { mayPurge: true });
});

beforeEach(async () => {
  await bus.jsm.streams.purge(`KV_${BUCKETS.environments}`);
  await bus.jsm.streams.purge(`OBJ_${BUCKETS.layers}`);
});

afterAll(() => server.close());

async function prepared(key: string, layer: BlobRef, usedAt: number): Promise<void> {
  await records.create(key, {
    state: "ready",
    layer,
    report,
    used_at: usedAt,
  } satisfies EnvironmentRecord);
}

const layerOf = (name: string, bytes: number): Promise<BlobRef> =>
  layers.put(`env-${name}.tar`, Buffer.alloc(bytes, name));

async function round(given: { records?: Kv; maxBytes?: number } = {}): Promise<string[]> {
  const removed: string[] = [];
  await removeSurplus({
    records: given.records ?? records,
    layers,
    ...(given.maxBytes === undefined ? {} : { maxBytes: given.maxBytes }),
    clock: { now: () => NOW, sleep: () => Promise.resolve() },
    onRemoved: ({ key }) => removed.push(key),
    onFailure: (error) => {
      throw error;
    },
  });
  return removed;
}

const stored = async (): Promise<number> =>
  (await bus.jsm.streams.info(`OBJ_${BUCKETS.layers}`)).state.messages;

test("an environment that nobody asked for in time is removed with every byte of its layer, and its name is free", async () => {
  await prepared("old", await layerOf("old", 300_000), TOO_OLD);
  await prepared("used", await layerOf("used", 10), NOW);
  expect(await round()).toEqual(["old"]);
  expect(await records.get("old")).toBeNull();
  expect(await stored()).toBe(2); // a chunk and the meta message of the other one
  await layerOf("old", 300_000);
  expect((await layers.get("env-old.tar")).length).toBe(300_000);
});

test("beyond the size of the store the least recently used ones go", async () => {
  for (const [age, name] of ["a", "b", "c"].entries()) {
    await prepared(name, await layerOf(name, 1000), NOW - (3 - age) * 60_000);
  }
  expect(await round({ maxBytes: 2000 })).toEqual(["a"]);
  expect((await records.keys()).toSorted()).toEqual(["b", "c"]);
});

test("a layer that another environment is made of stays", async () => {
  const shared = await layerOf("shared", 100);
  await prepared("old", shared, TOO_OLD);
  await prepared("used", shared, NOW);
  expect(await round()).toEqual(["old"]);
  expect(await layers.has(shared.name)).toBe(true);
});

test("an environment that a job uses between the look and the removal stays", async () => {
  const layer = await layerOf("old", 100);
  await prepared("old", layer, TOO_OLD);
  const racing: Kv = {
    ...records,
    update: async (key, document, revision) => {
      const used = { state: "ready", layer, report, used_at: NOW } satisfies EnvironmentRecord;
      await records.update(key, used, revision);
      return records.update(key, document, revision);
    },
  };
  expect(await round({ records: racing })).toEqual([]);
  expect(await records.get<EnvironmentRecord>("old")).toMatchObject({ value: { used_at: NOW } });
  expect(await layers.has(layer.name)).toBe(true);
});

test("what is being prepared, and what failed, is left alone", async () => {
  await records.create("busy", { state: "building", holder: "r1", beat: 1 } satisfies EnvironmentRecord);
  await records.create("bad", { state: "failed", report, message: "no" } satisfies EnvironmentRecord);
  expect(await round()).toEqual([]);
  expect((await records.keys()).toSorted()).toEqual(["bad", "busy"]);
});
