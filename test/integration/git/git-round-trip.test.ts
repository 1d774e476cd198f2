/** From a user's repository to a landed commit, with real git. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  applyPatch,
  buildCommit,
  checkPatch,
  diffOverlay,
  openRepo,
  readCommits,
  inspectRepo,
  landRef,
  overlayTar,
  readTar,
  TreeCache,
} from "@antiphon/git";
import { cleanUpRepos, makeRepo, manyFiles, scratchLeftovers, tempDir } from "../../support/repo.ts";
import { exportedTree } from "../../support/exported-tree.ts";

const AT = new Date("2026-02-03T04:05:06Z");

beforeEach(() => {
  // A temp directory of its own, so that everything left in it comes from this test.
  vi.stubEnv("TMPDIR", tempDir());
});

afterEach(() => {
  expect(scratchLeftovers()).toEqual([]);
  vi.unstubAllEnvs();
  cleanUpRepos();
});

describe("a change", () => {
  it("goes from base tree to overlay, patch, commit and branch, and lands once", async () => {
    const repo = makeRepo({
      files: {
        "a.txt": "one\ntwo\n",
        "run.sh": { content: "#!/bin/sh\n", mode: "100755" },
        "old.bin": Buffer.from([0, 1, 2]),
      },
    });
    const seen = await inspectRepo(repo.path);
    expect(seen).toMatchObject({
      branch: "refs/heads/main",
      dirty: false,
      files: 3,
      base: { commit: repo.head },
    });

    const exported = await exportedTree(repo.path, seen.base.commit);
    expect(exported.tree).toBe(repo.git("rev-parse", "HEAD^{tree}"));
    const cache = new TreeCache(tempDir());
    await cache.importTree(exported.tree, exported.tar);
    expect((await cache.readFile(exported.tree, "a.txt"))?.toString()).toBe("one\ntwo\n");

    const diff = await diffOverlay(cache, exported.tree, {
      files: [
        { path: "a.txt", mode: "100644", content: Buffer.from("one\n2\n") },
        { path: "new dir/ä b.txt", mode: "100755", content: Buffer.from("no end") },
      ],
      deletions: ["old.bin"],
    });
    expect(diff.files_changed).toEqual(["a.txt", "new dir/ä b.txt", "old.bin"]);
    expect(checkPatch(diff.patch)).toMatchObject({ ok: true });

    const applied = await applyPatch(repo.path, repo.head, diff.patch);
    expect(applied.tree).toBe(diff.tree);
    expect(applied.deletions).toEqual(["old.bin"]);
    const tar = overlayTar(applied.overlay);
    expect(
      readTar(tar ?? Buffer.alloc(0), { maxFiles: 9, maxBytes: 999 }).map((entry) => entry.path),
    ).toEqual(["a.txt", "new dir/ä b.txt"]);

    const trailers = {
      "Antiphon-Run": "run_x",
      "Antiphon-Task": "T-001",
      "Antiphon-Epoch": "2",
      "Antiphon-Evidence": "e",
    };
    const plan = {
      parent: repo.head,
      tree: applied.tree,
      objects: applied.objects,
      message: "Do it",
      trailers,
      at: AT,
    };
    const commit = await buildCommit(repo.path, plan);
    expect(await buildCommit(repo.path, plan)).toBe(commit);
    const ref = "refs/heads/antiphon/run_x";
    expect(await landRef(repo.path, ref, commit, null)).toEqual({ kind: "landed", actual: commit });
    expect(await landRef(repo.path, ref, commit, null)).toEqual({ kind: "already", actual: commit });
    const [read] = await readCommits(await openRepo(repo.path), [commit]);
    expect(read).toMatchObject({
      id: commit,
      tree: applied.tree,
      parents: [repo.head],
      message: "Do it",
      trailers,
    });
    expect(repo.git("fsck", "--strict")).toBe("");
    expect(repo.git("show", `${ref}:new dir/ä b.txt`)).toBe("no end");
  });

  it("takes a tree of a thousand files out and in again", async () => {
    const repo = makeRepo({ files: manyFiles(1000) });
    const exported = await exportedTree(repo.path, repo.head);
    expect(exported.files).toBe(1000);
    const cache = new TreeCache(tempDir());
    await cache.importTree(exported.tree, exported.tar);
    expect(await cache.list(exported.tree)).toHaveLength(1000);
  });
});
