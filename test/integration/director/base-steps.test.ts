/** A base that moves by few files is stored, fetched and checked as a step from the one before. */
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { keys, type TreeRef } from "@antiphon/contracts";
import { createLogger } from "@antiphon/runtime";
import { MemoryBlobs } from "@antiphon/runtime/testing/memory-blobs";
import { stepName, stepNamed, TreeCache } from "@antiphon/git";
import { baseTrees } from "../../../services/associate/src/attempt/base-trees.ts";
import { Repositories } from "../../../services/director/src/repositories/repositories.ts";
import { TreeArchive, type Tree } from "../../../services/sandbox-runner/src/workspace/tree-archive.ts";
import { TarReader } from "../../../services/sandbox-runner/src/workspace/tar-reader.ts";
import { cleanUpRepos, makeRepo, tempDir, type TestRepo } from "../../support/repo.ts";

const log = createLogger("test", { level: "silent" });
const signer = { publicKey: Buffer.alloc(32), sign: () => Buffer.alloc(64) };
const signal = new AbortController().signal;
/** More than what is always stored as a whole. */
const BIG = "big ".repeat(2_300_000);

afterEach(() => cleanUpRepos());

const director = (store: MemoryBlobs): Repositories =>
  new Repositories(store, { roots: null }, signer, log, { steps: true });
const at = ({ path }: TestRepo) => ({ name: "app", path });
const exported = (own: Repositories, repo: TestRepo, commit: string): Promise<TreeRef> =>
  own.exportBase(at(repo), commit);

function begun(): TestRepo {
  return makeRepo({ files: { "big.txt": BIG, "a/one.txt": "1\n", "a/two.txt": "2\n", c: "3\n" } });
}

/** One file changed, one with another mode, a new link, a file where a directory was. */
function moved(repo: TestRepo): string {
  repo.git("rm", "-q", "-r", "a");
  symlinkSync("big.txt", join(repo.path, "link"));
  const first = repo.commit("Move", { a: "a file\n", c: "changed\n", "d/new.txt": "new\n" });
  repo.git("update-index", "--chmod=+x", "c");
  repo.git("commit", "-q", "-m", "Mode");
  return first === "" ? first : repo.git("rev-parse", "HEAD");
}

/** The entries of an archive. */
async function entriesOf(tree: Tree): Promise<string[]> {
  const found: string[] = [];
  const reader = new TarReader({
    entry: ({ path, type, mode, size, link }) =>
      void found.push([path, type, mode & 0o111, size, link].join(" ")),
    data: () => undefined,
    end: () => undefined,
  });
  for await (const piece of tree.tar()) reader.push(piece);
  reader.finish();
  return found.sort();
}

const archive = (store: MemoryBlobs, directory = tempDir()): TreeArchive =>
  new TreeArchive(directory, { stream: (name) => store.stream(name) }, 1e9);

it("a runner makes of a step the same tree as of the whole, and writes nothing for it", async () => {
  const [store, whole] = [new MemoryBlobs("ANT_REPOS"), new MemoryBlobs("ANT_REPOS")];
  const repo = begun();
  const own = director(store);
  const before = await exported(own, repo, repo.head);
  const ref = await exported(own, repo, moved(repo));
  expect(stepNamed(ref.object)).toEqual({ tree: ref.tree, from: before.tree });
  expect((await store.get(ref.object)).length).toBeLessThan(2_000);
  const full = await exported(director(whole), repo, ref.commit);
  expect(full).toMatchObject({ object: keys.tree(ref.tree), tree: ref.tree, files: ref.files });
  const directory = tempDir();
  const tree = await archive(store, directory).open(ref.object);
  const expected = await archive(whole).open(full.object);
  expect([...tree.baseline].sort()).toEqual([...expected.baseline].sort());
  expect(tree.contentBytes).toBe(expected.contentBytes);
  expect(await entriesOf(tree)).toEqual(await entriesOf(expected));
  expect(readdirSync(directory).sort()).toEqual([`${before.object}.index.json`, `${before.object}.tar`]);
});

it("an Associate makes of a step the same tree, which stays when the one before is dropped", async () => {
  const store = new MemoryBlobs("ANT_REPOS");
  const repo = begun();
  const own = director(store);
  await exported(own, repo, repo.head);
  const ref = await exported(own, repo, moved(repo));
  const directory = tempDir();
  const trees = baseTrees(store, directory);
  await trees.ensure(ref, signal);
  const file = { path: "c", mode: "100755" as const, content: Buffer.from("mended\n") };
  const diff = await trees.diff(ref, { files: [file], deletions: ["a"] });
  expect(diff?.patch).toContain("-changed\n+mended");
  expect(diff?.files).toEqual(["c", "a"]);
  const cache = new TreeCache(directory, { maxTrees: 1 });
  expect((await cache.list(ref.tree)).map(({ path }) => path)).toEqual([
    "a",
    "big.txt",
    "c",
    "d/new.txt",
    "link",
  ]);
});

it("a step that leads to another tree is refused by both, and leaves nothing", async () => {
  const store = new MemoryBlobs("ANT_REPOS");
  const repo = begun();
  const own = director(store);
  await exported(own, repo, repo.head);
  const ref = await exported(own, repo, repo.commit("next", { c: "next\n" }));
  const honest = JSON.parse((await store.get(ref.object)).toString()) as { files: string[][] };
  const lies = [
    { ...honest, files: [["c", "100644", Buffer.from("forged\n").toString("base64")]] },
    { ...honest, files: [...honest.files, ["x", "100644", ""]] },
    { ...honest, files: [["c", "100755", honest.files[0]?.[2]]] },
    { ...honest, removed: ["a/one.txt"] },
    { ...honest, from: ref.tree },
    { ...honest, version: 2 },
    { ...honest, files: [["c", "160000", ""]] },
    [],
  ];
  for (const lie of lies) {
    await store.remove(ref.object);
    await store.put(ref.object, Buffer.from(JSON.stringify(lie)));
    await expect(archive(store).open(ref.object)).rejects.toMatchObject({ code: "ANT_BLOB_CORRUPT" });
    const trees = baseTrees(store, tempDir());
    await expect(trees.ensure(ref, signal)).rejects.toMatchObject({ code: "ANT_BLOB_CORRUPT" });
  }
});

it("there are steps from whole trees only, and what is too much or whose start is gone is stored as a whole", async () => {
  const store = new MemoryBlobs("ANT_REPOS");
  const repo = begun();
  const own = director(store);
  const first = await exported(own, repo, repo.head);
  const commits = ["1", "2", "3"].map((text) => repo.commit(text, { c: text }));
  for (const commit of commits) {
    const { object } = await exported(own, repo, commit);
    expect(stepNamed(object)?.from).toBe(first.tree);
  }
  const much = await exported(own, repo, repo.commit("much", { "big.txt": `${BIG}more` }));
  expect(much.object).toBe(keys.tree(much.tree));
  const many = Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`many/${n}`, String(n)]));
  const whole = await exported(own, repo, repo.commit("many", many));
  expect(whole.object).toBe(keys.tree(whole.tree));
  const last = commits.at(-1) ?? "";
  await store.remove(first.object); // The start of the steps above.
  const again = await exported(own, repo, last);
  const isUsable = stepNamed(again.object)?.from !== first.tree;
  expect(isUsable).toBe(true);
  expect([...(await archive(store).open(again.object)).baseline.keys()].sort()).toEqual([
    "a/one.txt",
    "a/two.txt",
    "big.txt",
    "c",
  ]);
});

it("a Director that was not told to makes no steps, which neighbours of the release before cannot read, and finds those of others", async () => {
  const store = new MemoryBlobs("ANT_REPOS");
  const repo = begun();
  const own = new Repositories(store, { roots: null }, signer, log);
  const first = await exported(own, repo, repo.head);
  const next = await exported(own, repo, repo.commit("next", { c: "next\n" }));
  expect([first.object, next.object]).toEqual([first, next].map(({ tree }) => keys.tree(tree)));
  const step = stepName(next.tree, first.tree);
  expect([...(await own.exportNamed(at(repo), next.commit, step))]).toEqual([first.object, step]);
});

it("a step and its start are stored again under the names that a dispatch gave them", async () => {
  const store = new MemoryBlobs("ANT_REPOS");
  const repo = begun();
  const own = director(store);
  const first = await exported(own, repo, repo.head);
  const ref = await exported(own, repo, repo.commit("next", { c: "next\n" }));
  for (const object of [first.object, ref.object]) await store.remove(object);
  await director(store).exportNamed(at(repo), ref.commit, ref.object);
  const tree = await archive(store).open(ref.object);
  expect(tree.baseline.get("c")).toMatchObject({ size: 5 });
});

it("callers who ask for it again while it is stored wait for one upload, whose bytes are reserved once", async () => {
  const store = new MemoryBlobs("ANT_REPOS");
  const repo = begun();
  const own = director(store);
  const first = await exported(own, repo, repo.head);
  const ref = await exported(own, repo, repo.commit("next", { c: "next\n" }));
  for (const object of [first.object, ref.object]) await store.remove(object);
  const reserved: number[] = [];
  const within = async <T>(bytes: number, put: () => Promise<T>): Promise<T> => {
    reserved.push(bytes);
    const others = director(new MemoryBlobs("ANT_REPOS"));
    await others.exportNamed(at(repo), ref.commit, ref.object); // As long as the other callers need to come here.
    return put();
  };
  const later = new Repositories(store, { roots: null }, signer, log, { within });
  const asks = [ref, ref, ref].map(({ commit, object }) => later.exportNamed(at(repo), commit, object));
  for (const stored of await Promise.all(asks)) expect([...stored]).toEqual([first.object, ref.object]);
  expect(reserved).toEqual([first.bytes, (await store.get(ref.object)).length]);
});

it("what is stored again is named truly, and a step whose start has left the repository is refused by a code", async () => {
  const store = new MemoryBlobs("ANT_REPOS");
  const repo = begun();
  const own = director(store);
  const { tree } = await exported(own, repo, repo.head);
  const next = await exported(own, repo, repo.commit("next", { c: "next\n" }));
  const last = repo.commit("last", { c: "last\n" });
  const led = await director(store).exportNamed(at(repo), last, next.object);
  expect([...led]).toEqual([keys.tree(tree)]);
  expect([...(await own.exportNamed(at(repo), last, next.object))]).not.toContain(next.object);
  repo.git("checkout", "-q", "--orphan", "alone");
  const alone = repo.commit("alone", { c: "alone\n" });
  repo.git("branch", "-q", "-D", "main");
  repo.git("reflog", "expire", "--expire=now", "--all");
  repo.git("gc", "-q", "--prune=now");
  const named = stepName(repo.git("rev-parse", `${alone}^{tree}`), tree);
  await expect(director(store).exportNamed(at(repo), alone, named)).rejects.toMatchObject({
    code: "ANT_BLOB_MISSING",
  });
});

it("an index that an earlier version wrote is made again", async () => {
  const store = new MemoryBlobs("ANT_REPOS");
  const repo = begun();
  const own = director(store);
  const first = await exported(own, repo, repo.head);
  const ref = await exported(own, repo, repo.commit("next", { c: "next\n" }));
  const directory = tempDir();
  await archive(store, directory).open(first.object);
  const index = join(directory, `${first.object}.index.json`);
  const { ids, ...old } = JSON.parse(readFileSync(index, "utf8")) as { ids: string[] };
  expect(ids.length).toBe(4);
  writeFileSync(index, JSON.stringify(old));
  expect((await archive(store, directory).open(ref.object)).baseline.get("c")).toMatchObject({ size: 5 });
});
