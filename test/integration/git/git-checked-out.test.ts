/** Landing on a checked-out branch: its files are updated, whatever crashed or was in the way. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createLogger, type Blobs } from "@antiphon/runtime";
import { applyPatch, buildCommit, diffOverlay, landRef, treeOf, updateWorktree } from "@antiphon/git";
import { Repositories } from "../../../services/director/src/repositories/repositories.ts";
import { cleanUpRepos, makeRepo, type FilesSpec, type TestRepo } from "../../support/repo.ts";

const REF = "refs/heads/main";
const LOCKED = { code: "ANT_LANDING_REF_LOCKED", disposition: "retry" };
const BEFORE = { "a.txt": "a\n", "b.txt": "b\n", "old.txt": "old\n", "mine.txt": "m\n" };
const AFTER = { "a.txt": "A\n", "b.txt": "B\n", "dir/new.txt": "new\n" };

afterEach(() => cleanUpRepos());

interface World {
  repo: TestRepo;
  /** The run's commit on top of `previous`; no ref points to it. */
  commit: string;
  previous: string;
  /** Lands like the Director. */
  land: () => ReturnType<Repositories["land"]>;
  /** Lands like a Director that dies before it has touched a file. */
  landAndDie: () => Promise<void>;
  /** The Director's log lines. */
  told: () => Record<string, unknown>[];
}

async function world(files: FilesSpec = BEFORE): Promise<World> {
  const repo = makeRepo({ files });
  const previous = repo.head;
  const commit = await change(repo, previous, AFTER, ["old.txt"]);
  const lines: string[] = [];
  const log = createLogger("test", { destination: { write: (line) => void lines.push(line) } });
  const signer = { publicKey: Buffer.alloc(32), sign: () => Buffer.alloc(64) };
  const noBlobs = null as unknown as Blobs; // A landing stores nothing.
  const repositories = new Repositories(noBlobs, { roots: null }, signer, log);
  const ref = { name: "r", path: repo.path };
  return {
    repo,
    commit,
    previous,
    land: () => repositories.land(ref, REF, commit, previous),
    landAndDie: async () =>
      expect(await landRef(repo.path, REF, commit, previous)).toMatchObject({ kind: "landed" }),
    told: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

async function change(
  repo: TestRepo,
  parent: string,
  files: Record<string, string>,
  deletions: string[] = [],
): Promise<string> {
  const overlay = Object.entries(files).map(([path, content]) => ({
    path,
    mode: "100644" as const,
    content: Buffer.from(content),
  }));
  const diff = await diffOverlay(repo.path, await treeOf(repo.path, parent), { files: overlay, deletions });
  const { tree, objects } = await applyPatch(repo.path, parent, diff.patch);
  const at = new Date("2026-02-03T04:05:06Z");
  return buildCommit(repo.path, { parent, tree, objects, message: "m", trailers: {}, at });
}

const read = (repo: TestRepo, path: string): string => readFileSync(join(repo.path, path), "utf8");
const lockOf = (repo: TestRepo): string => join(repo.path, ".git", "index.lock");

describe("a Director that died after the branch was moved", () => {
  it("git/G6: the repeated landing succeeds and the files are updated", async () => {
    const { repo, commit, previous, land, landAndDie, told } = await world();
    await landAndDie();
    expect(await land()).toEqual({ kind: "landed", ref: REF, commit, previous });
    expect(repo.git("status", "--porcelain")).toBe("");
    expect(await land()).toEqual({ kind: "landed", ref: REF, commit, previous });
    expect(told()).toEqual([]);
  });

  it.each([
    ["some files", { "a.txt": "A\n", "dir/new.txt": "new\n" }],
    ["all files and no index", { ...AFTER, "old.txt": null }],
  ])(
    "git/G6: with %s written already, the rest is written and nothing is taken for an edit",
    async (_, written) => {
      const { repo, commit, land, landAndDie, told } = await world();
      await landAndDie();
      repo.write(written);
      repo.write({ "mine.txt": "mine\n" });
      expect(await land()).toMatchObject({ kind: "landed", commit });
      expect(repo.git("status", "--porcelain")).toBe(" M mine.txt");
      expect([
        read(repo, "a.txt"),
        read(repo, "dir/new.txt"),
        existsSync(join(repo.path, "old.txt")),
      ]).toEqual(["A\n", "new\n", false]);
      expect(told()).toEqual([]);
    },
  );

  it("git/G6: an edit made meanwhile stays, the landing succeeds, and the log names the file in its way", async () => {
    const { repo, commit, land, landAndDie, told } = await world();
    await landAndDie();
    repo.write({ "a.txt": "A\n", "b.txt": "my own\n", "dir/new.txt": "mine too\n" });
    expect(await land()).toMatchObject({ kind: "landed", commit });
    expect([read(repo, "b.txt"), read(repo, "dir/new.txt")]).toEqual(["my own\n", "mine too\n"]);
    expect(told()).toMatchObject([
      { ref: REF, commit, top: repo.path, reason: expect.stringContaining(".txt") as string },
    ]);
    repo.write({ "b.txt": "b\n", "dir/new.txt": null });
    expect(await land()).toMatchObject({ kind: "landed" });
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  it("a change that was staged meanwhile stays staged", async () => {
    const { repo, land, landAndDie, told } = await world();
    await landAndDie();
    repo.write({ "a.txt": "staged\n" });
    repo.git("add", "a.txt");
    const staged = repo.git("rev-parse", ":a.txt");
    repo.write({ "a.txt": "A\n", "b.txt": "B\n" });
    expect(await land()).toMatchObject({ kind: "landed" });
    expect(repo.git("rev-parse", ":a.txt")).toBe(staged);
    expect(told()).toHaveLength(1);
  });

  it("the files are updated to the branch as it is when others landed on top meanwhile", async () => {
    const { repo, commit, land, landAndDie } = await world();
    await landAndDie();
    const later = await change(repo, commit, { "a.txt": "later\n", "later.txt": "later\n" });
    expect(await landRef(repo.path, REF, later, commit)).toMatchObject({ kind: "landed" });
    expect(await land()).toMatchObject({ kind: "landed", commit });
    expect(repo.git("status", "--porcelain")).toBe("");
    expect([read(repo, "a.txt"), read(repo, "b.txt")]).toEqual(["later\n", "B\n"]);
  });

  it("a landing that was taken back is not written into the files again", async () => {
    const { repo, previous, commit, landAndDie } = await world();
    await landAndDie();
    repo.git("update-ref", REF, previous);
    expect(await updateWorktree(repo.path, { ref: REF, from: previous, to: commit })).toEqual({
      kind: "unchanged",
    });
    expect(repo.git("status", "--porcelain")).toBe("");
  });
});

describe("a branch that moved while a change was verified", () => {
  it("is reported as moved, also when the same file was changed, and nothing is touched", async () => {
    const { repo, land } = await world();
    const theirs = repo.commit("theirs", { "a.txt": "theirs\n" });
    expect(await land()).toMatchObject({ kind: "refused", code: "ANT_LANDING_HEAD_MOVED" });
    repo.write({ "a.txt": "and an edit\n" });
    expect(await land()).toMatchObject({ kind: "refused", code: "ANT_LANDING_HEAD_MOVED" });
    expect([repo.git("rev-parse", "main"), read(repo, "a.txt")]).toEqual([theirs, "and an edit\n"]);
  });

  it("local changes refuse a landing where it has not moved", async () => {
    const { repo, previous, land } = await world();
    repo.write({ "a.txt": "mine\n", "dir/new.txt": "mine\n", "mine.txt": "also\n" });
    expect(await land()).toEqual({
      ...{ kind: "refused", code: "ANT_LANDING_FILES" },
      message: `${repo.path}: uncommitted changes of a.txt and untracked files (dir/new.txt) are in the way`,
    });
    expect([repo.git("rev-parse", "main"), read(repo, "a.txt")]).toEqual([previous, "mine\n"]);
  });
});

describe("a file in the way of a landing", () => {
  it("is named also where it stands in place of a directory, and is the only one named", async () => {
    const { repo, land } = await world();
    repo.write({ dir: "a file\n" });
    expect(await land()).toMatchObject({ message: `${repo.path}: untracked files (dir) are in the way` });
  });
});

describe("another git command that holds the index", () => {
  it("git/G6: makes the landing wait, before the branch is moved", async () => {
    const { repo, commit, previous, land } = await world();
    writeFileSync(lockOf(repo), "");
    await expect(land()).rejects.toMatchObject({
      ...LOCKED,
      detail: expect.stringContaining("index.lock") as string,
    });
    expect(repo.git("rev-parse", "main")).toBe(previous);
    rmSync(lockOf(repo));
    expect(await land()).toMatchObject({ kind: "landed", commit });
    expect(repo.git("status", "--porcelain")).toBe("");
  });

  it("that starts after the branch was moved delays the answer until the files are updated", async () => {
    const { repo, commit, previous, land, landAndDie } = await world();
    await landAndDie();
    writeFileSync(lockOf(repo), "");
    const move = { ref: REF, from: previous, to: commit };
    await expect(updateWorktree(repo.path, move)).rejects.toMatchObject(LOCKED);
    await expect(land()).rejects.toMatchObject(LOCKED);
    rmSync(lockOf(repo));
    expect(await land()).toMatchObject({ kind: "landed", commit });
    expect(repo.git("status", "--porcelain")).toBe("");
  });
});

describe("the policy's bounds on a change", () => {
  it("refuse a patch with too many files or a protected path, and accept one within them", async () => {
    const repo = makeRepo({ files: BEFORE });
    const overlay = ["a.txt", "b.txt"].map((path) => ({
      path,
      mode: "100644" as const,
      content: Buffer.from("new\n"),
    }));
    const tree = await treeOf(repo.path, repo.head);
    const { patch } = await diffOverlay(repo.path, tree, { files: overlay, deletions: [] });
    const log = createLogger("test", { level: "silent" });
    const signer = { publicKey: Buffer.alloc(32), sign: () => Buffer.alloc(64) };
    const repositories = new Repositories(null as unknown as Blobs, { roots: null }, signer, log);
    const judged = (bounds: object) =>
      repositories.candidate({ name: "r", path: repo.path }, repo.head, Buffer.from(patch), {
        ...{ scope: [], grants: ["**"], checks: [], discovered: false, base: repo.head },
        policy: { profiles: ["strict"], ...bounds },
      });
    for (const [bounds, rule] of [
      [{ max_files: 1 }, "maxFilesPerCommit"],
      [{ max_lines: 3 }, "maxLinesPerCommit"],
      [{ protected_paths: ["B.txt"] }, "protectedPaths"],
    ] as const)
      expect(await judged(bounds)).toMatchObject({
        kind: "refused",
        code: "ANT_PATCH_POLICY",
        message: expect.stringContaining(`(policy strict, rule ${rule})`) as string,
      });
    const kept = { max_files: 2, max_lines: 4, protected_paths: ["deploy"] };
    expect((await judged(kept)).kind).toBe("candidate");
  });
});
