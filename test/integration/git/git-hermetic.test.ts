/** Hostile repositories, environments and clones: none of them runs a program or changes a result. */
import { spawnSync } from "node:child_process";
import { chownSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  applyPatch,
  buildCommit,
  commitFiles,
  diffOverlay,
  dirtyPaths,
  openRepo,
  readCommits,
  inspectRepo,
  landRef,
  readTar,
  replayCommits,
  TreeCache,
  updateWorktree,
} from "@antiphon/git";
import { makeTrappedRepo } from "../../support/hostile-repo.ts";
import { cleanUpRepos, makeRepo, rawGit, tempDir } from "../../support/repo.ts";
import { exportedTree } from "../../support/exported-tree.ts";

const AT = new Date("2026-02-03T04:05:06Z");
const BOUNDS = { maxFiles: 100_000, maxBytes: 1 << 28 };

afterEach(() => {
  vi.unstubAllEnvs();
  cleanUpRepos();
});

describe("a repository that tries to run programs", () => {
  it("git/G1: none of its hooks, filters, drivers, helpers or transports starts, whatever we do with it", async () => {
    const repo = makeTrappedRepo();
    // A changed time makes git compare contents, which is where a clean filter would run.
    writeFileSync(join(repo.path, "a.txt"), "one\ntwo\nthree\n");
    const seen = await inspectRepo(repo.path, { allowDirty: true, landOn: "main" });
    await dirtyPaths(repo.path, repo.head);
    const exported = await exportedTree(repo.path, repo.head);
    const files = await commitFiles(repo.path, repo.head);
    expect(await files.read("a.txt")).toBe("one\ntwo\nthree\n");
    const cache = new TreeCache(tempDir());
    await cache.importTree(exported.tree, exported.tar);
    const content = Buffer.from("one\n2\nthree\n");
    const change = { files: [{ path: "a.txt", mode: "100644" as const, content }], deletions: ["b.txt"] };
    const diff = await diffOverlay(cache, exported.tree, change);
    expect(await diffOverlay(repo.path, exported.tree, change)).toEqual(diff);
    const applied = await applyPatch(repo.path, repo.head, diff.patch);
    await applyPatch(repo.path, repo.head, diff.patch, { threeWay: true });
    const trailers = { "Antiphon-Run": "run_x", "Antiphon-Task": "T-001" };
    const plan = { tree: applied.tree, objects: applied.objects, message: "m", trailers, at: AT };
    const commit = await buildCommit(repo.path, { ...plan, parent: repo.head });
    const move = { ref: "refs/heads/main", from: repo.head, to: commit };
    expect(await updateWorktree(repo.path, { ...move, dryRun: true })).toMatchObject({ kind: "updated" });
    await landRef(repo.path, "refs/heads/antiphon/run_x", commit, null);
    expect(await landRef(repo.path, "refs/heads/main", commit, repo.head)).toMatchObject({ kind: "landed" });
    expect(await updateWorktree(repo.path, move)).toMatchObject({ kind: "updated" });
    expect(readFileSync(join(repo.path, "a.txt"), "utf8")).toBe("one\n2\nthree\n");
    const [read] = await readCommits(await openRepo(repo.path), [commit]);
    expect(read?.trailers).toEqual(trailers);
    await replayCommits(repo.path, { from: repo.head, to: commit, onto: repo.head });
    await expect(exportedTree(repo.path, "1".repeat(40))).rejects.toMatchObject({
      code: "ANT_REPO_INCOMPLETE",
    });
    expect(seen.files).toBe(6);
    expect(repo.sprung()).toEqual([]);

    // An ordinary git does run the traps, so they are real.
    writeFileSync(join(repo.path, "a.txt"), "changed\n");
    spawnSync("git", ["-c", "safe.directory=*", "diff"], { cwd: repo.path });
    spawnSync("git", ["-c", "safe.directory=*", "fetch"], { cwd: repo.path });
    expect(repo.sprung().length).toBeGreaterThan(2);
  });

  it("git/G1: attributes change neither what is exported nor what a diff says", async () => {
    const repo = makeTrappedRepo();
    const { tar } = await exportedTree(repo.path, repo.head);
    const entries = new Map(readTar(tar, BOUNDS).map((entry) => [entry.path, entry.content.toString()]));
    expect(entries.get("kept.lock")).toBe("not to be left out\n");
    expect(entries.get("x.id")).toBe("$Id$ $Format:%H$\n");
    expect(entries.get("y.crlf")).toBe("line\n");
  });

  it("a partial clone is reported as one, and nothing is fetched", async () => {
    const origin = makeRepo({ files: { "big.bin": Buffer.alloc(4096, 7), "a.txt": "a\n" } });
    origin.git("config", "uploadpack.allowFilter", "true");
    const clone = join(tempDir(), "clone");
    rawGit(origin.path, "clone", "-q", "--no-checkout", "--filter=blob:none", `file://${origin.path}`, clone);
    const before = readdirSync(join(clone, ".git", "objects", "pack")).sort();
    await expect(exportedTree(clone, origin.head)).rejects.toMatchObject({ code: "ANT_REPO_INCOMPLETE" });
    expect(readdirSync(join(clone, ".git", "objects", "pack")).sort()).toEqual(before);
  });
});

describe("an environment that tries to change results", () => {
  it("git/G1: config and repository variables of the caller have no effect", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const other = makeRepo({ files: { "b.txt": "b\n" } });
    const before = await exportedTree(repo.path, repo.head);
    const home = tempDir();
    writeFileSync(
      join(home, ".gitconfig"),
      "[core]\n\tautocrlf = true\n[diff]\n\tnoprefix = true\n[user]\n\tname = Eve\n",
    );
    for (const [key, value] of Object.entries({
      HOME: home,
      GIT_DIR: join(other.path, ".git"),
      GIT_WORK_TREE: other.path,
      GIT_INDEX_FILE: join(home, "index"),
      GIT_OBJECT_DIRECTORY: join(home, "objects"),
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "diff.noprefix",
      GIT_CONFIG_VALUE_0: "true",
      GIT_EXTERNAL_DIFF: "false",
      GIT_AUTHOR_NAME: "Eve",
      GIT_TRACE: join(home, "trace"),
    })) {
      vi.stubEnv(key, value);
    }
    const after = await exportedTree(repo.path, repo.head);
    expect(after.tar.equals(before.tar)).toBe(true);
    expect((await inspectRepo(repo.path)).base.repo.path).toBe(repo.path);
    const change = {
      files: [{ path: "a.txt", mode: "100644" as const, content: Buffer.from("b\n") }],
      deletions: [],
    };
    expect((await diffOverlay(repo.path, before.tree, change)).patch).toContain("--- a/a.txt\n+++ b/a.txt\n");
    expect(readdirSync(home)).toEqual([".gitconfig"]);
  });

  it("works in a repository that another user owns", async () => {
    const repo = makeRepo({ files: { "a.txt": "a\n" } });
    const own = statSync(repo.path).uid === 0;
    for (const name of own ? [repo.path, join(repo.path, ".git"), join(repo.path, ".git", "config")] : []) {
      chownSync(name, 12_345, 12_345);
    }
    expect(await inspectRepo(repo.path)).toMatchObject({ files: 1, dirty: false });
  });
});
