/** The store of base trees: bounded, and nothing that a run needs is missed when it was removed. */
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { BUCKETS, type DispatchBody } from "@antiphon/contracts";
import { createLogger, openBlobs, openJournal, systemClock, type Blobs, type Bus } from "@antiphon/runtime";
import { baseTrees } from "../../../services/associate/src/attempt/base-trees.ts";
import { exportAgainOver, withObjects } from "../../../services/associate/src/attempt/export-again.ts";
import { Repositories } from "../../../services/director/src/repositories/repositories.ts";
import { StoreRoom } from "../../../services/director/src/upkeep/store-room.ts";
import { cleanUpRepos, makeRepo, tempDir, type TestRepo } from "../../support/repo.ts";
import { openForgedWorld, TASK, type ForgedWorld } from "./forged-world.ts";

const MIB = 1024 * 1024;
const log = createLogger("test", { level: "silent" });
const signer = { publicKey: Buffer.alloc(32), sign: () => Buffer.alloc(64) };
let world: ForgedWorld;
let store: Blobs;

beforeAll(async () => {
  world = await openForgedWorld();
  store = openBlobs(world.bus, BUCKETS.repos, { mayPurge: true });
});

afterAll(() => world.close());
afterEach(() => cleanUpRepos());

interface Director {
  readonly room: StoreRoom;
  readonly repositories: Repositories;
}

/** A Director's part that stores. `keepMs` 0: what was wanted just now may go. */
function director(maxBytes: number, bus: Bus = world.bus, keepMs = 0): Director {
  const journal = openJournal(bus, { log });
  const room = new StoreRoom({ bus, journal, maxBytes, keepMs, clock: systemClock, log });
  const blobs = openBlobs(bus, BUCKETS.repos, { mayPurge: true, wantedMs: 0 });
  const repositories = new Repositories(blobs, { roots: null }, signer, log, {
    within: (bytes, put) => room.within(bytes, put),
  });
  return { room, repositories };
}

const place = ({ path }: TestRepo) => ({ name: "app", path });
const bytesStored = async () => (await world.bus.jsm.streams.info(`OBJ_${BUCKETS.repos}`)).state.bytes;
const bigFile = (fill: number) => ({ "big.bin": Buffer.alloc(3 * MIB, fill).toString("latin1") });

async function dispatched(runId: string, repo: TestRepo): Promise<DispatchBody> {
  await world.openRun(runId, repo);
  const record = await world.journal.find("dispatch", runId, TASK, 1);
  if (record?.type !== "dispatch") throw new Error("no dispatch");
  return record.body;
}

/** As an Associate with an empty cache fetches the tree of its dispatch. */
function fetchTree(runId: string, dispatch: DispatchBody, repos: Blobs = store): Promise<void> {
  const trees = baseTrees(repos, tempDir());
  const ports = { exportAgain: exportAgainOver(world.bus), progress: () => undefined, log };
  const signal = new AbortController().signal;
  return withObjects({ runId, epoch: 1, dispatch }, ports, signal, () => trees.ensure(dispatch.base, signal));
}

it("many commits of a repository stay within the bound, and the newest is there", async () => {
  const { repositories } = director(10 * MIB);
  const repo = makeRepo({ files: bigFile(1) });
  let last = await repositories.exportBase(place(repo), repo.head);
  for (let fill = 2; fill <= 8; fill += 1) {
    last = await repositories.exportBase(place(repo), repo.commit(`commit ${fill}`, bigFile(fill)));
    expect(await bytesStored()).toBeLessThan(10 * MIB);
  }
  expect(await store.has(last.object)).toBe(true);
});

it("a Director exports again what it has stored before and what somebody removed since", async () => {
  const { repositories } = director(100 * MIB);
  const repo = makeRepo({ files: { "a.txt": "a\n" } });
  const base = { repo: place(repo), ref: "refs/heads/main", commit: repo.head };
  const tree = await repositories.exportBase(base.repo, repo.head);
  const history = await repositories.exportHistory(base, repo.head, 5);
  if (history === null) throw new Error("no history");
  for (const { object } of [tree, history]) await store.remove(object);
  expect(await repositories.exportBase(base.repo, repo.head)).toEqual(tree);
  expect(await repositories.exportHistory(base, repo.head, 5)).toEqual(history);
  for (const { object } of [tree, history]) expect(await store.has(object)).toBe(true);
});

it("callers who find it gone at the same time get one export", async () => {
  const { repositories } = director(100 * MIB);
  const repo = makeRepo({ files: bigFile(3) });
  const { object } = await repositories.exportBase(place(repo), repo.head);
  await store.remove(object);
  const again = await Promise.all(
    Array.from({ length: 8 }, () => repositories.exportBase(place(repo), repo.head)),
  );
  expect(new Set(again.map((one) => one.object))).toEqual(new Set([object]));
  expect(await store.has(object)).toBe(true);
});

it("what an open run names stays, however long the run waits, and goes when the run is over", async () => {
  const repo = { ...world.makeTarget() };
  const { base } = await dispatched("run_waits", repo);
  const { room } = director(0);
  await room.within(0, () => Promise.resolve());
  expect(await store.has(base.object)).toBe(true);
  await world.propose("run_waits");
  await world.ended("run_waits");
  const { room: later } = director(0);
  await later.within(0, () => Promise.resolve());
  expect(await store.has(base.object)).toBe(false);
});

it("two Directors over one store, one of them new, keep what they hand out", async () => {
  const other = await world.nats.connect({ log });
  const directors = [director(8 * MIB, world.bus, 60_000), director(8 * MIB, other, 60_000)];
  const repo = makeRepo({ files: bigFile(1) });
  const commits = [2, 3, 4, 5].map((fill) => repo.commit(`commit ${fill}`, bigFile(fill)));
  const handed = await Promise.all(
    directors.flatMap(({ repositories }) =>
      commits.map((commit) => repositories.exportBase(place(repo), commit)),
    ),
  );
  // All were wanted lately, so the store is over its bound for a while, and nobody misses anything.
  for (const { object } of handed) expect(await store.has(object)).toBe(true);
  await director(4 * MIB).room.within(0, () => Promise.resolve());
  expect(await bytesStored()).toBeLessThan(4 * MIB);
  for (const { repositories } of directors)
    for (const commit of commits) {
      const { object } = await repositories.exportBase(place(repo), commit);
      expect(await store.has(object)).toBe(true);
    }
});

it("an Associate whose tree was removed after the dispatch gets it exported again", async () => {
  const repo = makeRepo({ files: { "a.txt": "a\n", "b.txt": "b\n" } });
  const dispatch = await dispatched("run_gone", repo);
  await store.remove(dispatch.base.object);
  await fetchTree("run_gone", dispatch);
  expect(await store.has(dispatch.base.object)).toBe(true);
});

it("a tree that is removed while an Associate reads it is fetched again", async () => {
  const repo = makeRepo({ files: bigFile(7) });
  const dispatch = await dispatched("run_cut", repo);
  let isCut = false;
  const cutting: Blobs = Object.assign(Object.create(store) as Blobs, {
    async *stream(name: string) {
      for await (const piece of store.stream(name)) {
        yield piece;
        if (!isCut) await store.remove(name);
        isCut = true;
      }
    },
  });
  await fetchTree("run_cut", dispatch, cutting);
  expect(isCut).toBe(true);
});

it("says what is missing when the repository is gone too", async () => {
  const repo = makeRepo({ files: { "c.txt": "c\n" } });
  const dispatch = await dispatched("run_lost", repo);
  await store.remove(dispatch.base.object);
  cleanUpRepos();
  await expect(fetchTree("run_lost", dispatch)).rejects.toMatchObject({ code: "ANT_REPO_NOT_FOUND" });
});
